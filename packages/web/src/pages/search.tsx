/** The search for entries: its form and the results. */
import { KINDS } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { EntryView } from '../entries/entry-view.tsx';
import type { SearchPage, SearchResult } from '../page-data.ts';
import { addressWith, href, queryIn, useShell, useWords } from '../shell.ts';

/** Parameters that say where in the results the page begins. */
const CURSORS = ['skip', 'before', 'after'];

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
        <section class="entries" aria-label={words.results}>
          {results.map((result) => (
            <Result key={result.entry.id} result={result} />
          ))}
        </section>
      )}
      {next !== undefined && !shell.isCut && (
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
  const [kindGiven, roomGiven, order] = ['kind', 'room', 'order'].map(
    (name) => query.get(name) ?? '',
  );
  const { search: words } = useWords();
  const invalid =
    problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': 'problem' };
  return (
    <form class="query quiet" method="get" action="/search" role="search">
      {shell.localeChosen && <input type="hidden" name="lang" value={shell.locale} />}
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
        <label>
          {words.kind}
          <select name="kind" value={kindGiven}>
            <option value="">{words.any}</option>
            {KINDS.map((kind) => (
              <option key={kind} value={kind} selected={kind === kindGiven}>
                {shell.kinds[kind].name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.room}
          <select name="room" value={roomGiven}>
            <option value="">{words.any}</option>
            {shell.rooms.map(({ slug, title }) => (
              <option key={slug} value={slug} selected={slug === roomGiven}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.author}
          <input name="identity" value={query.get('identity') ?? ''} autocomplete="off" />
        </label>
        <label>
          {words.order}
          <select name="order" value={order === 'newest' ? 'newest' : ''}>
            <option value="">{words.best}</option>
            <option value="newest" selected={order === 'newest'}>
              {words.newest}
            </option>
          </select>
        </label>
      </div>
      <p class="quiet">{words.how}</p>
    </form>
  );
}
