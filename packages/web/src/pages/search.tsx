/** Entries by their words. */
import { KINDS } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { EntryView } from '../entries/entry-view.tsx';
import type { SearchPage, SearchResult } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';

export function Page({ data }: { readonly data: SearchPage }): VNode {
  const shell = useShell();
  const { search: words } = useWords();
  const { results, isSection, next, problem } = data;
  return (
    <div class="search">
      <h1>{words.title}</h1>
      <SearchForm data={data} />
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
      {next !== undefined && (
        <p class="entries-more">
          <a href={href(shell, next)} rel="next">
            {words.more}
          </a>
        </p>
      )}
    </div>
  );
}

function Result({ result: { entry, snippet } }: { readonly result: SearchResult }): VNode {
  return (
    <EntryView entry={entry} showsRoom>
      <p class="entry-text search-snippet" dir="auto">
        {snippet.map(({ text, isMatch }, at) => (isMatch ? <mark key={at}>{text}</mark> : text))}
      </p>
    </EntryView>
  );
}

function SearchForm({ data: { query, problem } }: { readonly data: SearchPage }): VNode {
  const shell = useShell();
  const { search: words } = useWords();
  const invalid =
    problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': 'problem' };
  return (
    <form class="search-form" method="get" action="/search" role="search">
      {shell.localeChosen && <input type="hidden" name="lang" value={shell.locale} />}
      <p class="search-words">
        <input
          type="search"
          name="q"
          aria-label={words.words}
          placeholder={words.placeholder}
          value={query.q}
          {...invalid}
        />
        <button>{words.search}</button>
      </p>
      <div class="search-filters">
        <label>
          {words.kind}
          <select name="kind" value={query.kind}>
            <option value="">{words.any}</option>
            {KINDS.map((kind) => (
              <option key={kind} value={kind} selected={kind === query.kind}>
                {shell.kinds[kind].name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.room}
          <select name="room" value={query.room}>
            <option value="">{words.any}</option>
            {shell.rooms.map(({ slug, title }) => (
              <option key={slug} value={slug} selected={slug === query.room}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.author}
          <input name="identity" value={query.identity} autocomplete="off" />
        </label>
        <label>
          {words.order}
          <select name="order" value={query.order === 'newest' ? 'newest' : ''}>
            <option value="">{words.best}</option>
            <option value="newest" selected={query.order === 'newest'}>
              {words.newest}
            </option>
          </select>
        </label>
      </div>
      <p class="quiet">{words.how}</p>
    </form>
  );
}
