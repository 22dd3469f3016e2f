/** The inbox of a name: by default, of the name that this device remembers, which the script fills in. */
import type { VNode } from 'preact';

import { EntryList } from '../entries/entry-list.tsx';
import type { InboxPage } from '../page-data.ts';
import { queryIn, useShell, useWords } from '../shell.ts';
import { VisitorLink } from '../visitor-name.tsx';

export function Page({ data }: { readonly data: InboxPage }): VNode {
  const { inbox: words } = useWords();
  const { list } = data;
  const to = queryIn(useShell()).get('to') || undefined;
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
          <EntryList list={list} label={words.title} empty={words.nothing} showsRoom />
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
