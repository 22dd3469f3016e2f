/** A room: who is in it, and what is said in it. */
import { KINDS, type Kind, type PresentDocument } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { EntryList } from '../entries/entry-list.tsx';
import { SeenContext } from '../entries/entry-view.tsx';
import type { PresenceChange } from '../entries/live-entries.ts';
import { fetchJson } from '../fetch-json.ts';
import { NewSince, SinceLink, useSeenIn } from '../news.tsx';
import type { RoomPage } from '../page-data.ts';
import { RoomTitle } from '../room-title.tsx';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { Replies } from '../speaking/replies.tsx';
import { TakePart } from '../speaking/take-part.tsx';
import { VisitorLink, VisitorName } from '../visitor-name.tsx';

export function Page({ data }: { readonly data: RoomPage }): VNode {
  const { room, filters, list } = data;
  const { room: words } = useWords();
  const { kinds } = useShell();
  const [here, setHere] = useState(data.here);
  const isFiltered =
    filters.kind !== undefined || filters.identity !== undefined || filters.others.length > 0;
  const seenSeq = useSeenIn(room.slug, list.head);
  const ownFirst = KINDS.toSorted(
    (a, b) => Number(kinds[b].room === room.slug) - Number(kinds[a].room === room.slug),
  );
  return (
    <>
      <header class="room-head">
        <h1>
          <RoomTitle room={room} />
        </h1>
        <p class="description">{room.description}</p>
        <Here names={here} />
      </header>
      <TakePart kinds={ownFirst} room={room.slug} />
      <Filters data={data} />
      {!isFiltered && <NewSince room={room.slug} />}
      <SeenContext.Provider value={seenSeq}>
        <Replies>
          <EntryList
            list={list}
            label={words.entries}
            empty={isFiltered ? words.nothingFound : words.nothingSaid}
            onPresence={(change) => setHere((names) => changedNames(names, change, room.slug))}
            onReturn={() => void readHere(room.slug).then(setHere, () => {})}
          />
        </Replies>
      </SeenContext.Provider>
      <SinceLink path={`/rooms/${room.slug}`} head={list.head} />
    </>
  );
}

const MAX_HERE = 24;

function Here({ names }: { readonly names: readonly string[] }): VNode {
  const { room } = useWords();
  if (names.length === 0) return <p class="room-here quiet">{room.nobodyHere}</p>;
  return (
    <p class="room-here">
      <span class="dot" aria-hidden="true" />
      {room.here}{' '}
      {names.slice(0, MAX_HERE).map((name) => (
        <span key={name} class="room-visitor">
          <VisitorLink name={name} />
        </span>
      ))}
      {names.length > MAX_HERE && '…'}
    </p>
  );
}

async function readHere(slug: string): Promise<string[]> {
  const path = `/api/presence?room=${slug}&limit=${MAX_HERE + 1}`;
  const { here } = (await fetchJson(path)) as { readonly here: readonly PresentDocument[] };
  return here.map(({ identity }) => identity);
}

/** Lists nobody twice. Keeps one name more than is shown, so that the page can say that there are more. */
function changedNames(
  names: readonly string[],
  { identity, state, room }: PresenceChange,
  slug: string,
): readonly string[] {
  const others = names.filter((name) => name !== identity);
  return state === 'here' && room === slug ? [identity, ...others].slice(0, MAX_HERE + 1) : others;
}

function Filters({ data: { filters, room } }: { readonly data: RoomPage }): VNode {
  const shell = useShell();
  const { room: words } = useWords();
  const link = (kind: Kind | undefined, identity: string | undefined): string =>
    href(shell, addressWith(`/rooms/${room.slug}`, { kind, identity }));
  const { kind: chosen, identity, others } = filters;
  const kinds: readonly (Kind | undefined)[] = [undefined, ...KINDS];
  return (
    <nav class="filters row quiet" aria-label={words.filters}>
      <ul class="row">
        {kinds.map((kind) => (
          <li key={kind ?? ''}>
            <a
              href={link(kind, identity)}
              {...(kind === chosen && others.length === 0
                ? { 'aria-current': 'true' as const }
                : {})}
            >
              {kind === undefined ? words.allKinds : shell.kinds[kind].name}
            </a>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p>
          {words.onlyWith} <code dir="auto">{others.join(' ')}</code>
        </p>
      )}
      {identity !== undefined && (
        <p>
          {words.onlyBy} <VisitorName name={identity} />{' '}
          <a href={link(chosen, undefined)}>{words.everybody}</a>
        </p>
      )}
    </nav>
  );
}
