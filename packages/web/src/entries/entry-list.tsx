/**
 * A page of a listing, with links to the pages before and after it. The script appends the next page in place, and
 * adds new entries as they come.
 */
import type { ComponentChildren, VNode } from 'preact';

import type { EntryViewOptions } from '../page-data.ts';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import type { EntryList as EntryListData } from './entry-data.ts';
import { EntryView } from './entry-view.tsx';

interface EntryListProps extends EntryViewOptions {
  readonly list: EntryListData;
  readonly empty: ComponentChildren;
  readonly label: string;
}

/** The parameters of an address that name a place in the listing. */
const POSITION = ['before', 'after'];

export function EntryList({ list, empty, label, ...options }: EntryListProps): VNode {
  const shell = useShell();
  const { list: words, entry } = useWords();
  const { entries, order, next, hasEarlier } = list;
  const isNewest = order === 'newest';
  const [first, last] = [entries[0]?.seq, entries.at(-1)?.seq];
  const link = (rel: 'next' | 'prev', seq: number | undefined): VNode | null => {
    if (seq === undefined) return null;
    const isOlder = isNewest === (rel === 'next');
    const place = { [isOlder ? 'before' : 'after']: String(seq) };
    return (
      <p class="entries-more">
        <a href={href(shell, addressWith(shell.url, place, POSITION))} rel={rel}>
          {isOlder ? words.older : words.newer}
        </a>
      </p>
    );
  };
  return (
    <section
      class="entries"
      aria-label={label}
      tabIndex={-1}
      data-order={order}
      data-view={
        options.showsRoom === true ? 'rooms' : options.answersAbove === true ? 'above' : ''
      }
      data-new={entry.isNew}
      data-new-above={entry.newAbove}
    >
      {hasEarlier && link('prev', first ?? shell.head)}
      {entries.length === 0 && <p class="entries-empty">{empty}</p>}
      {entries.map((shown) => (
        <EntryView key={shown.id} entry={shown} {...options} />
      ))}
      {next !== null && link('next', last)}
      <div class="entries-news" role="status">
        <button type="button" data-text={words.unseen} hidden />
        <p class="entries-interrupted" hidden>
          {words.interrupted}
        </p>
      </div>
    </section>
  );
}
