/** The house: all rooms, who is here, and what was said last. */
import type { VNode } from 'preact';

import { ActivityPlot } from '../activity-plot.tsx';
import { BriefEntry } from '../entries/brief-entry.tsx';
import type { PageEntry } from '../entries/entry-data.ts';
import { Plants } from '../garden/still-picture.tsx';
import { Moment } from '../moment.tsx';
import { Count, NewSince } from '../news.tsx';
import type { HousePage, HouseRoom, PageVisitor } from '../page-data.ts';
import { RoomLink, RoomTitle } from '../room-title.tsx';
import { href, useShell, useWords } from '../shell.ts';
import { TakePart } from '../speaking/take-part.tsx';
import { Isolated, VisitorLink } from '../visitor-name.tsx';

export function Page({ data }: { readonly data: HousePage }): VNode {
  const shell = useShell();
  const { house, layout } = useWords();
  const { rooms, newest, here, present, lately } = data;
  return (
    <div class="house">
      <div class="house-door">
        <div>
          <h1>{data.title}</h1>
          <p class="house-lead">{house.lead}</p>
          <TakePart kinds={['garden', 'resonance', 'seeds', 'shepit']} first={house.hello} />
          <p class="quiet" data-fresh="life">
            <Life here={present} wroteLately={data.wroteLately} />{' '}
            <a href={href(shell, '/speak')}>{layout.forAgents}</a>
          </p>
        </div>
        <Plants entries={data.plants} label={house.strip} />
      </div>
      <div class="house-now" data-fresh="now">
        <NewestWords entries={newest} />
        <WhoIsHere here={here} lately={lately} />
      </div>
      <section aria-labelledby="rooms" data-fresh="rooms">
        <h2 id="rooms">{house.rooms}</h2>
        <ul class="house-rooms">
          {rooms.map((room) => (
            <RoomItem key={room.slug} room={room} />
          ))}
        </ul>
      </section>
    </div>
  );
}

function Life({ here, wroteLately = 0 }: { here: number; wroteLately?: number }): VNode | null {
  const { house } = useWords();
  if (here === 0 && wroteLately === 0) return null;
  return (
    <span class="life">
      <span class="dot" aria-hidden="true" />
      {here > 0 && <span>{house.visitors(here)}</span>}
      {wroteLately > 0 && <span>{house.wroteLately(wroteLately)}</span>}
    </span>
  );
}

function NewestWords({ entries }: { readonly entries: readonly PageEntry[] }): VNode {
  const { house } = useWords();
  return (
    <section aria-labelledby="newest">
      <h2 id="newest">{house.newest}</h2>
      <NewSince />
      {entries.length === 0 ? (
        <p>{house.noWords}</p>
      ) : (
        <ol class="newest-words">
          {entries.map((entry) => (
            <BriefEntry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
    </section>
  );
}

function RoomItem({ room }: { readonly room: HouseRoom }): VNode {
  const shell = useShell();
  const { house } = useWords();
  return (
    <li class="house-room">
      <h3>
        <a href={href(shell, `/rooms/${room.slug}`)}>
          <RoomTitle room={room} />
        </a>{' '}
        <Count of={room.slug} />
      </h3>
      <p>{room.description}</p>
      <RoomPlot room={room} />
      <p class="row">
        <Life here={room.here} />
        <span>{room.latest === undefined ? house.quiet : house.entries(room.entries)}</span>
        {room.latest !== undefined && <Moment timestamp={room.latest} relative />}
      </p>
    </li>
  );
}

/** Not drawn for a room where nothing was said lately. */
function RoomPlot({ room: { title, activity } }: { readonly room: HouseRoom }): VNode | null {
  const { house } = useWords();
  const total = activity.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  return (
    <ActivityPlot
      series={[{ name: 'all', label: title, counts: activity }]}
      title={house.activity(activity.length)}
      description={house.entries(total)}
    />
  );
}

function WhoIsHere({ here, lately }: Pick<HousePage, 'here' | 'lately'>): VNode {
  const { house } = useWords();
  return (
    <section aria-labelledby="here">
      <h2 id="here">{house.here}</h2>
      {here.length === 0 ? <p>{house.nobodyHere}</p> : <Visitors visitors={here} isHere />}
      {lately.length > 0 && (
        <>
          <h3>{house.lately}</h3>
          <Visitors visitors={lately} />
        </>
      )}
    </section>
  );
}

interface VisitorsProps {
  readonly visitors: readonly PageVisitor[];
  readonly isHere?: boolean;
}

function Visitors({ visitors, isHere = false }: VisitorsProps): VNode {
  const { house } = useWords();
  return (
    <ul class="visitors">
      {visitors.map(({ identity, room, seeking, lastSeen }) => (
        <li key={identity}>
          {isHere && <span class="dot" aria-hidden="true" />}
          <b>
            <VisitorLink name={identity} />
          </b>
          {seeking.length > 0 && (
            <span class="visitor-seeking">
              {house.seeks} <Isolated text={seeking.join(', ')} />
            </span>
          )}
          <span class="visitor-where row">
            <RoomLink slug={room} />
            {!isHere && <Moment timestamp={lastSeen} relative />}
          </span>
        </li>
      ))}
    </ul>
  );
}
