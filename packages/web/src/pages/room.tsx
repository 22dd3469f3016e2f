/** A room: who is in it, and what is said in it. */
import { KINDS, type Kind } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { EntryList } from '../entries/entry-list.tsx';
import { NewSince, SinceLink } from '../news.tsx';
import type { RoomPage } from '../page-data.ts';
import { RoomTitle } from '../room-title.tsx';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { TakePart } from '../speaking/take-part.tsx';
import { VisitorLink, VisitorName } from '../visitor-name.tsx';

export function Page({ data }: { readonly data: RoomPage }): VNode {
  const { room, filters, list, here } = data;
  const { room: words } = useWords();
  const { kinds } = useShell();
  const isFiltered =
    filters.kind !== undefined || filters.identity !== undefined || filters.others.length > 0;
  const ownFirst = KINDS.toSorted(
    (a, b) => Number(kinds[b].room === room.slug) - Number(kinds[a].room === room.slug),
  );
  return (
    <>
      <header class="room-head" data-room={room.slug}>
        <h1>
          <RoomTitle room={room} />
        </h1>
        <p class="description">{room.description}</p>
        <Here names={here} />
      </header>
      <TakePart kinds={ownFirst} room={room.slug} />
      <Filters data={data} />
      {!isFiltered && <NewSince room={room.slug} />}
      <EntryList
        list={list}
        label={words.entries}
        empty={isFiltered ? words.nothingFound : words.nothingSaid}
      />
      <SinceLink path={`/rooms/${room.slug}`} />
    </>
  );
}

const MAX_HERE = 24;

function Here({ names }: { readonly names: readonly string[] }): VNode {
  const { room } = useWords();
  if (names.length === 0)
    return (
      <p class="room-here quiet" data-fresh="here">
        {room.nobodyHere}
      </p>
    );
  return (
    <p class="room-here" data-fresh="here">
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
