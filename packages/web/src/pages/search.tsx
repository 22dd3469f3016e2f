/** The search for entries: its form and the results. */
import { KINDS, SELECTOR_NAMES } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { EntryView } from '../entries/entry-view.tsx';
import type { SearchPage, SearchResult } from '../page-data.ts';
import { addressWith, href, queryIn, useShell, useWords } from '../shell.ts';

/** Parameters that say where in the results the page begins. */
const CURSORS = ['skip', 'before', 'after'];
/** Parameters with a field in the form, and all that choose entries. */
const FIELDS = new Set(['kind', 'room', 'identity']);
const FILTERS = new Set([...FIELDS, 'since', 'until', ...SELECTOR_NAMES]);

export function Page({ data }: { readonly data: SearchPage }): VNode {
  const shell = useShell();
  const { search: words } = useWords();
  const { results, isSection, next, problem } = data;
  return (
    <>
      <h1>{words.title}</h1>
      <SearchForm problem={problem} />
      {problem !== undefined && (
        <p class="search-problem" role="alert" lang="en" id="problem">
          {problem}
        </p>
      )}
      {isSection === true && <p class="quiet">{words.section}</p>}
      {results?.length === 0 && <p class="quiet">{words.nothing}</p>}
      {results !== undefined && results.length > 0 && (
        <section class="entries" aria-label={words.results} data-fresh="results">
          {results.map((result) => (
            <Result key={result.entry.id} result={result} />
          ))}
        </section>
      )}
      {next !== undefined && (
        <p class="entries-more">
          <a href={href(shell, addressWith(shell.url, next, CURSORS))} rel="next">
            {words.more}
          </a>
        </p>
      )}
    </>
  );
}

function Result({ result: { entry, snippet } }: { readonly result: SearchResult }): VNode {
  return (
    <EntryView entry={entry} showsRoom>
      <p class="entry-text" dir="auto">
        {snippet.map(({ text, isMatch }, at) => (isMatch ? <mark key={at}>{text}</mark> : text))}
      </p>
    </EntryView>
  );
}

function SearchForm({ problem }: { readonly problem: string | undefined }): VNode {
  const shell = useShell();
  const query = queryIn(shell);
  const { room, search: words } = useWords();
  const others = [...query].filter(
    ([name, value]) =>
      FILTERS.has(name) && value !== '' && !(FIELDS.has(name) && value === query.get(name)),
  );
  const invalid =
    problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': 'problem' };
  return (
    <form class="query quiet" method="get" action="/search" role="search">
      {shell.localeChosen && <input type="hidden" name="lang" value={shell.locale} />}
      {others.map(([name, value], at) => (
        <input key={at} type="hidden" name={name} value={value} />
      ))}
      <p class="query-line row">
        <input
          type="search"
          name="q"
          aria-label={words.words}
          placeholder={words.placeholder}
          value={query.get('q') ?? ''}
          {...invalid}
        />
        <button>{words.search}</button>
      </p>
      <div class="search-filters">
        <Choice
          name="kind"
          label={words.kind}
          options={KINDS.map((kind) => [kind, shell.kinds[kind].name])}
        />
        <Choice
          name="room"
          label={words.room}
          options={shell.rooms.map(({ slug, title }) => [slug, title])}
        />
        <label>
          {words.author}
          <input name="identity" value={query.get('identity') ?? ''} autocomplete="off" />
        </label>
        <Choice
          name="order"
          label={words.order}
          any={words.best}
          options={[
            ['newest', words.newest],
            ['oldest', words.oldest],
          ]}
        />
      </div>
      {others.length > 0 && (
        <p>
          {room.onlyWith}{' '}
          <code dir="auto">{others.map(([name, value]) => `${name}=${value}`).join(' ')}</code>
        </p>
      )}
      <p class="quiet">{words.how}</p>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** What it means to choose none of the options. */
  readonly any?: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

function Choice({ name, label, any, options }: ChoiceProps): VNode {
  const given = queryIn(useShell()).get(name);
  const { search: words } = useWords();
  const chosen = options.find(([value]) => value === given)?.[0] ?? '';
  return (
    <label>
      {label}
      <select name={name} value={chosen}>
        <option value="">{any ?? words.any}</option>
        {options.map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
