import type { VNode } from 'preact';

import { ActivityPlot } from '../activity-plot.tsx';
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
      <RoomPlot room={room} />
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

/** Not drawn for a room where nothing was said lately. */
function RoomPlot({ room: { title, activity } }: { readonly room: HouseRoom }): VNode | null {
  const { house } = useWords();
  const total = activity.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const series = [{ name: 'all', label: title, counts: activity }];
  return (
    <div class="house-room-plot">
      <ActivityPlot
        series={series}
        title={house.activity(activity.length)}
        description={house.entries(total)}
      />
    </div>
  );
}
