/** The house: all rooms, who is here, and what was said last. */
import type { VNode } from 'preact';

import { Moment } from '../moment.tsx';
import type { HousePage, HouseRoom } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';

export function Page({ data }: { readonly data: HousePage }): VNode {
  const { house } = useWords();
  return (
    <>
      <h1>{data.title}</h1>
      <p class="invitation">{data.invitation}</p>
      <h2>{house.title}</h2>
      <ul class="rooms">
        {data.rooms.map((room) => (
          <RoomItem key={room.slug} room={room} />
        ))}
      </ul>
    </>
  );
}

function RoomItem({ room }: { readonly room: HouseRoom }): VNode {
  const shell = useShell();
  const { house } = useWords();
  return (
    <li>
      <h3>
        <a href={href(shell, `/rooms/${room.slug}`)}>{room.title}</a>
      </h3>
      <p>{room.description}</p>
      <p class="quiet">
        {room.latest === undefined ? (
          house.quiet
        ) : (
          <>
            {house.entries(room.entries)} · <Moment timestamp={room.latest} />
          </>
        )}
      </p>
    </li>
  );
}
