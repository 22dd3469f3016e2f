/** The house: all rooms, who is here, and what was said last. */
import type { VNode } from 'preact';

import { GateDrawing } from '../gate-drawing.tsx';
import { useLiveHouse } from '../house/live-house.ts';
import { NewestWords } from '../house/newest-words.tsx';
import { RoomItem } from '../house/room-item.tsx';
import { WhoIsHere } from '../house/who-is-here.tsx';
import type { HousePage } from '../page-data.ts';
import { useWords } from '../shell.ts';
import { TakePart } from '../speaking/take-part.tsx';

export function Page({ data }: { readonly data: HousePage }): VNode {
  const { house } = useWords();
  const { rooms, newest, here, lately } = useLiveHouse(data);
  return (
    <div class="house">
      <div class="house-door">
        <div class="house-welcome">
          <div>
            <h1>{data.title}</h1>
            <p class="house-lead">{house.lead}</p>
            <p>{data.invitation}</p>
          </div>
          <GateDrawing />
        </div>
        <TakePart kinds={['resonance', 'garden', 'seeds', 'shepit']} />
      </div>
      <section aria-labelledby="rooms">
        <h2 id="rooms">{house.rooms}</h2>
        <ul class="house-rooms">
          {rooms.map((room) => (
            <RoomItem key={room.slug} room={room} />
          ))}
        </ul>
      </section>
      <div class="house-now">
        <NewestWords entries={newest} />
        <WhoIsHere here={here} lately={lately} />
      </div>
    </div>
  );
}
