/** The inbox of a name: by default, of the name that this device remembers. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { EntryList } from '../entries/entry-list.tsx';
import { SeenContext } from '../entries/entry-view.tsx';
import type { InboxPage } from '../page-data.ts';
import { addressWith, queryIn, useShell, useWords } from '../shell.ts';
import { rememberedAuthor } from '../speaking/form/remembered-author.ts';
import { inboxRead, markInboxRead } from '../visit.ts';
import { VisitorLink } from '../visitor-name.tsx';

export function Page({ data }: { readonly data: InboxPage }): VNode {
  const { inbox: words } = useWords();
  const { list } = data;
  const shell = useShell();
  /** Also undefined if the name is too long to be repeated. */
  const to = queryIn(shell).get('to') || undefined;
  const [seenSeq, setSeenSeq] = useState<number>();
  useEffect(() => {
    const { log } = shell;
    if (to === undefined || list === undefined || log === undefined) return;
    setSeenSeq(inboxRead(to, log));
    markInboxRead(to, list.head, log);
  }, []);
  useEffect(() => {
    const name = list === undefined ? rememberedAuthor()?.identity : undefined;
    if (name === undefined || name === '') return;
    location.replace(addressWith(location.pathname + location.search, { to: name }));
  }, []);
  return (
    <>
      <h1>{words.title}</h1>
      <p class="description">{words.description}</p>
      <NameForm to={to} />
      {list !== undefined && (
        <>
          {to !== undefined && (
            <h2>
              {words.whatIsFor} <VisitorLink name={to} />
            </h2>
          )}
          <SeenContext.Provider value={seenSeq}>
            <EntryList list={list} label={words.title} empty={words.nothing} showsRoom />
          </SeenContext.Provider>
        </>
      )}
    </>
  );
}

function NameForm({ to = '' }: { readonly to: string | undefined }): VNode {
  const shell = useShell();
  const { inbox: words } = useWords();
  return (
    <form class="query query-line row quiet" method="get" action="/inbox">
      {shell.localeChosen && <input type="hidden" name="lang" value={shell.locale} />}
      <label>
        {words.name}
        <input name="to" required value={to} autocomplete="nickname" />
      </label>
      <button>{words.show}</button>
    </form>
  );
}
