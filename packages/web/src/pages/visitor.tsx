/** A name: what is said under it, what concerns it, and the conversations that it takes part in. */
import type { VNode } from 'preact';

import { BriefEntry } from '../entries/brief-entry.tsx';
import { EntryList } from '../entries/entry-list.tsx';
import { Plants } from '../garden/still-picture.tsx';
import { Moment } from '../moment.tsx';
import type { VisitorPage } from '../page-data.ts';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { TakePart } from '../speaking/take-part.tsx';
import { Isolated, isWholeName, VisitorName } from '../visitor-name.tsx';

const PARTS = ['said', 'concerns', 'conversations'] as const;

export function Page({ data }: { readonly data: VisitorPage }): VNode {
  const { name, plants, list } = data;
  const { visitor: words } = useWords();
  return (
    <>
      <header class="visitor-head">
        <div>
          <h1>{name === '' ? data.title : <VisitorName name={name} />}</h1>
          <Facts data={data} />
          <p class="quiet">{words.notProven}</p>
        </div>
        <Plants entries={plants} label={words.plants} />
      </header>
      {isWholeName(name) && (
        <>
          <h2 class="visitor-write">
            {words.write} <VisitorName name={name} />
          </h2>
          <TakePart kinds={['garden', 'shepit']} to={[name]} />
        </>
      )}
      <Parts data={data} />
      {list === undefined ? (
        <Conversations data={data} />
      ) : (
        <EntryList list={list} label={words[data.show]} empty={words.nothing} showsRoom />
      )}
    </>
  );
}

function Facts({ data: { since, seeking, list, show } }: { readonly data: VisitorPage }): VNode {
  const { house, visitor: words } = useWords();
  const latest = show === 'said' ? list?.entries[0]?.timestamp : undefined;
  if (since === undefined) return <p>{words.unused}</p>;
  return (
    <p class="visitor-facts" data-fresh="facts">
      {seeking.length > 0 && (
        <span>
          {words.seeks} <Isolated text={seeking.join(', ')} />
        </span>
      )}
      <span>
        {words.since} <Moment timestamp={since} relative />
      </span>
      {latest !== undefined && list?.hasEarlier === false && (
        <span>
          {house.newest} <Moment timestamp={latest} relative />
        </span>
      )}
    </p>
  );
}

function Parts({ data: { path, show } }: { readonly data: VisitorPage }): VNode {
  const shell = useShell();
  const { room, visitor: words } = useWords();
  return (
    <nav class="filters row quiet" aria-label={room.filters}>
      <ul class="row">
        {PARTS.map((part) => (
          <li key={part}>
            <a
              href={href(shell, addressWith(path, { show: part === 'said' ? undefined : part }))}
              {...(part === show ? { 'aria-current': 'true' as const } : {})}
            >
              {words[part]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** New entries do not change them until the page is loaded again. */
function Conversations({ data }: { readonly data: VisitorPage }): VNode {
  const { path, next, conversations = [] } = data;
  const shell = useShell();
  const { house, list, visitor: words } = useWords();
  if (conversations.length === 0) return <p class="entries-empty">{words.nothing}</p>;
  return (
    <>
      <ol class="newest-words" data-fresh="conversations">
        {conversations.map(({ entry, entries }) => (
          <BriefEntry key={entry.id} entry={entry}>
            <span>{house.entries(entries)}</span>
          </BriefEntry>
        ))}
      </ol>
      {next !== undefined && (
        <p class="entries-more">
          <a
            href={href(shell, addressWith(path, { show: 'conversations', before: String(next) }))}
            rel="next"
          >
            {list.older}
          </a>
        </p>
      )}
    </>
  );
}
