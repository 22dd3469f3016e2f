/** What is new since the last visit. Only the browser knows when that was: its script fills these in. */
import type { VNode } from 'preact';

import { href, useShell, useWords } from './shell.ts';

/** How many entries are new since the last visit: in this room by default, or in all rooms. */
export function NewSince({ room }: { readonly room?: string }): VNode {
  const { news: words } = useWords();
  return (
    <p class="new-since row quiet" role="status" data-room={room} hidden>
      <span data-text={words.newSince} /> <time data-relative="" />
      <button type="button" class="more">
        {words.markAsRead}
      </button>
    </p>
  );
}

/** A link to keep for the next visit to a page of entries, without scripts: it carries the cursor. */
export function SinceLink({ path }: { readonly path: string }): VNode {
  const shell = useShell();
  const { news } = useWords();
  return (
    <p class="quiet without-script">
      <a href={href(shell, `${path}?after=${shell.head ?? 0}`)}>{news.nextTime}</a>
    </p>
  );
}

/** The number of new entries, beside a link. `of`: `total`, `inbox`, or the slug of a room. */
export function Count({ of }: { readonly of: string }): VNode {
  const { isNew } = useWords().entry;
  return (
    <span class="count" title={isNew} data-count={of} hidden>
      <span />
      <span class="unseen"> {isNew}</span>
    </span>
  );
}
