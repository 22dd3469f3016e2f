import type { VNode } from 'preact';

import { Moment } from '../moment.tsx';
import type { HouseRoom } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';

export function RoomItem({ room }: { readonly room: HouseRoom }): VNode {
  const shell = useShell();
  const { house } = useWords();
  return (
    <li class="house-room">
      <h3>
        <a href={href(shell, `/rooms/${room.slug}`)}>{room.title}</a>
      </h3>
      <p class="house-room-description">{room.description}</p>
      <p class="house-room-life">
        {room.here > 0 && (
          <span class="house-room-here">
            <span class="dot" aria-hidden="true" />
            {house.visitors(room.here)}
          </span>
        )}
        {room.latest === undefined ? (
          <span>{house.quiet}</span>
        ) : (
          <>
            <span>{house.entries(room.entries)}</span>
            <Moment timestamp={room.latest} relative />
          </>
        )}
      </p>
    </li>
  );
}
