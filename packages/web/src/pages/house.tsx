/** The house: all rooms, who is here, and what was said last. */
import type { VNode } from 'preact';

import { ActivityPlot } from '../activity-plot.tsx';
import type { PageEntry } from '../entries/entry-data.ts';
import { useLiveHouse } from '../house/live-house.ts';
import { KindMark } from '../kind-mark.tsx';
import { Moment } from '../moment.tsx';
import type { HousePage, HouseRoom, PageVisitor } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { TakePart } from '../speaking/take-part.tsx';
import { Isolated, VisitorName } from '../visitor-name.tsx';

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

function GateDrawing(): VNode {
  return (
    <svg class="gate" viewBox="0 0 320 340" aria-hidden="true">
      <defs>
        <radialGradient id="gate-light" cx="0.5" cy="0.62" r="0.6">
          <stop offset="0" class="gate-light-near" />
          <stop offset="1" class="gate-light-far" />
        </radialGradient>
      </defs>
      <path class="gate-light" d="M62 338V162a98 98 0 0 1 196 0v176Z" fill="url(#gate-light)" />
      <path class="gate-arch" d="M62 338V162a98 98 0 0 1 196 0v176" />
      <path class="gate-arch gate-arch-outer" d="M46 338V162a114 114 0 0 1 228 0v176" />
      <g class="gate-plants">
        <path
          class="gate-stems"
          d="M160 338c-2-44 4-84-2-128M104 338c1-22-3-42-14-58M220 338c-1-30 4-54 14-74"
        />
        <path d="M160 300c-18-4-30-18-32-38 20 2 32 14 32 38ZM159 268c16-6 27-19 29-40-20 3-30 18-29 40ZM158 236c-15-5-24-16-25-33 17 2 26 14 25 33ZM158 212c2-18 12-28 28-30-1 18-11 29-28 30Z" />
        <path d="M102 312c13-3 21-12 23-26-14 1-23 11-23 26ZM97 294c-12 0-20-7-24-19 13-2 22 5 24 19Z" />
        <path d="M222 306c-14-3-23-13-24-28 15 1 24 12 24 28ZM228 280c14 0 24-8 27-23-15-1-25 8-27 23Z" />
      </g>
      <g class="gate-seeds">
        <circle cx="126" cy="174" r="3.2" />
        <circle cx="196" cy="148" r="2.6" />
        <circle cx="160" cy="122" r="3" />
        <circle cx="210" cy="214" r="2.2" />
        <circle cx="108" cy="226" r="2.4" />
      </g>
      <path class="gate-ground" d="M8 338h304" />
    </svg>
  );
}

function NewestWords({ entries }: { readonly entries: readonly PageEntry[] }): VNode {
  const { house } = useWords();
  return (
    <section class="newest" aria-labelledby="newest">
      <h2 id="newest">{house.newest}</h2>
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

/** The start of an entry, which leads to the whole. */
function BriefEntry({ entry }: { readonly entry: PageEntry }): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const { withheld } = entry;
  const { name } = shell.kinds[entry.kind];
  const room = shell.rooms.find(({ slug }) => slug === entry.room);
  return (
    <li class="brief" data-kind={entry.kind}>
      <KindMark kind={entry.kind} />
      <p class="brief-head">
        <b>{entry.author === undefined ? words.unnamed : <VisitorName name={entry.author} />}</b>
        <a href={href(shell, `/entries/${entry.id}`)}>
          {name}, <Moment timestamp={entry.timestamp} relative />
        </a>
        {room !== undefined && <a href={href(shell, `/rooms/${room.slug}`)}>{room.title}</a>}
      </p>
      <p class="brief-text" dir="auto">
        {withheld === undefined ? briefText(entry) : `${words.withheld} ${withheld.reason}`}
      </p>
    </li>
  );
}

function briefText({ text, seeking, members }: PageEntry): string {
  if (text !== '') return text;
  return seeking === undefined ? (members ?? '') : seeking.join(', ');
}

function RoomItem({ room }: { readonly room: HouseRoom }): VNode {
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

interface WhoIsHereProps {
  readonly here: readonly PageVisitor[];
  readonly lately: readonly PageVisitor[];
}

function WhoIsHere({ here, lately }: WhoIsHereProps): VNode {
  const { house } = useWords();
  return (
    <section class="here" aria-labelledby="here">
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
  const shell = useShell();
  const { house } = useWords();
  return (
    <ul class={isHere ? 'visitors' : 'visitors visitors-lately'}>
      {visitors.map(({ identity, room, seeking, lastSeen }) => {
        const found = shell.rooms.find(({ slug }) => slug === room);
        return (
          <li key={identity}>
            {isHere && <span class="dot" aria-hidden="true" />}
            <b>
              <VisitorName name={identity} />
            </b>
            {seeking.length > 0 && (
              <span class="visitor-seeking">
                {house.seeks} <Isolated text={seeking.join(', ')} />
              </span>
            )}
            <span class="visitor-where">
              {found !== undefined && (
                <a href={href(shell, `/rooms/${found.slug}`)}>{found.title}</a>
              )}
              {!isHere && <Moment timestamp={lastSeen} relative />}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
