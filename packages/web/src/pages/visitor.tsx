/** A name: what is said under it, what concerns it, and the conversations that it takes part in. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { BriefEntry } from '../entries/brief-entry.tsx';
import { EntryList } from '../entries/entry-list.tsx';
import { useWithholdings } from '../entries/live-entries.ts';
import { withoutWithheld } from '../entries/withheld-entry.ts';
import { Plants } from '../garden/still-picture.tsx';
import { Moment } from '../moment.tsx';
import type { VisitorPage } from '../page-data.ts';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { Replies } from '../speaking/replies.tsx';
import { TakePart } from '../speaking/take-part.tsx';
import { Isolated, isWholeName, VisitorName } from '../visitor-name.tsx';

const PARTS = ['said', 'concerns', 'conversations'] as const;

export function Page({ data }: { readonly data: VisitorPage }): VNode {
  const { name, plants, list } = data;
  const { visitor: words } = useWords();
  // Hides the picture and what the name seeks after a withholding: both may show withheld words.
  const [isStale, setStale] = useState(false);
  return (
    <>
      <header class="visitor-head">
        <div>
          <h1>{name === '' ? data.title : <VisitorName name={name} />}</h1>
          <Facts data={data} isStale={isStale} />
          <p class="quiet">{words.notProven}</p>
        </div>
        {!isStale && <Plants entries={plants} label={words.plants} />}
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
        <Conversations data={data} onWithheld={() => setStale(true)} />
      ) : (
        <Replies>
          <EntryList
            list={list}
            label={words[data.show]}
            empty={words.nothing}
            showsRoom
            onWithheld={() => setStale(true)}
          />
        </Replies>
      )}
    </>
  );
}

interface FactsProps {
  readonly data: VisitorPage;
  readonly isStale: boolean;
}

function Facts({ data: { since, seeking, list, show }, isStale }: FactsProps): VNode {
  const { house, visitor: words } = useWords();
  const latest = show === 'said' ? list?.entries[0]?.timestamp : undefined;
  if (since === undefined) return <p>{words.unused}</p>;
  return (
    <p class="visitor-facts">
      {seeking.length > 0 && !isStale && (
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

interface ConversationsProps {
  readonly data: VisitorPage;
  readonly onWithheld: () => void;
}

function Conversations({ data, onWithheld }: ConversationsProps): VNode {
  const { path, next } = data;
  const [conversations, setConversations] = useState(data.conversations ?? []);
  const shell = useShell();
  const { house, list, visitor: words } = useWords();
  // New entries do not change the page until it is loaded again.
  useWithholdings((withholdings) => {
    setConversations((all) =>
      all.map((shown) => {
        const [entry = shown.entry] = withoutWithheld([shown.entry], withholdings);
        return { ...shown, entry };
      }),
    );
    onWithheld();
  });
  if (conversations.length === 0) return <p class="entries-empty">{words.nothing}</p>;
  return (
    <>
      <ol class="newest-words">
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
