/** The garden: one window of what was said as a picture, with its authors, the activity and a list. */
import type { Kind } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { ActivityPlot } from '../activity-plot.tsx';
import type { Activity, GardenEntry } from '../garden/garden-data.ts';
import { growBloom } from '../garden/growth/plant.ts';
import { type Author, distinctHues, type Hues, sortedApart } from '../garden/main-authors.ts';
import { Land, Outlines, StillPicture } from '../garden/still-picture.tsx';
import { Moment } from '../moment.tsx';
import type { GardenPage } from '../page-data.ts';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { Isolated, isWholeName, visibleName, VisitorLink } from '../visitor-name.tsx';

/** The order in which the plot stacks them, from the ground up. */
const KINDS: readonly Kind[] = ['garden', 'seeds', 'shepit', 'resonance'];

export function Page({ data }: { readonly data: GardenPage }): VNode {
  const { garden } = useWords();
  const { entries, authors, author } = data;
  const hues = distinctHues(authors);
  return (
    <div class="garden-page">
      <h1>{data.title}</h1>
      <p class="garden-lead">{garden.lead}</p>
      <div class="garden-picture">
        <Land />
        {entries.length > 0 && (
          <StillPicture entries={entries} hues={hues} label={garden.picture} />
        )}
        <Live query={data.query} />
        <p class="garden-empty" data-fresh="empty">
          {entries.length === 0 && garden.empty}
        </p>
      </div>
      <Windows data={data} />
      <Authors authors={sortedApart(authors, hues)} hues={hues} chosen={author} />
      {author !== undefined && (
        <p class="quiet">
          {garden.allOf} <VisitorLink name={author} />
        </p>
      )}
      {entries.length > 0 && <p class="garden-legend">{garden.legend}</p>}
      {data.activity !== undefined && <ActivityOverTime activity={data.activity} />}
      <EntryList entries={entries} />
    </div>
  );
}

/** Links to what the picture shows: the newest, or a month. */
function Windows({ data: { month, author, months } }: { readonly data: GardenPage }): VNode {
  const shell = useShell();
  const { garden } = useWords();
  const format = new Intl.DateTimeFormat(shell.locale, {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const current = (isHere: boolean) => (isHere ? { 'aria-current': 'true' as const } : {});
  return (
    <nav class="filters row quiet" aria-label={garden.windows}>
      <ul class="row">
        <li>
          <a
            href={href(shell, '/garden')}
            {...current(month === undefined && author === undefined)}
          >
            {garden.latest}
          </a>
        </li>
        {months.map((one) => (
          <li key={one}>
            <a
              href={href(shell, addressWith('/garden', { month: one }))}
              {...current(one === month)}
            >
              {format.format(new Date(`${one}-01T00:00:00Z`))}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** What the script shows in the place of the still picture. */
function Live({ query }: { readonly query: string }): VNode {
  const { kinds } = useShell();
  const { garden } = useWords();
  const names = Object.fromEntries(KINDS.map((kind) => [kind, kinds[kind].name]));
  const control = (sign: string, name: string): VNode => (
    <button type="button">
      <span aria-hidden="true">{sign}</span>
      <span class="unseen">{name}</span>
    </button>
  );
  return (
    <div
      class="garden-live"
      data-query={query}
      data-kinds={JSON.stringify(names)}
      data-unnamed={garden.unnamed}
      hidden
    >
      <div
        class="garden-stage"
        tabIndex={0}
        role="application"
        aria-label={garden.picture}
        aria-describedby="garden-keys"
      >
        <div>
          <canvas />
        </div>
      </div>
      <div class="caption" hidden>
        <p class="caption-head" />
        <p class="caption-text" dir="auto" />
        <p class="caption-time" />
        <a tabIndex={-1}>{garden.open}</a>
      </div>
      <p class="unseen" id="garden-keys">
        {garden.keys}
      </p>
      <p class="unseen" role="status" />
      <div class="garden-controls">
        {control('+', garden.closer)}
        {control('−', garden.farther)}
        <button type="button">{garden.whole}</button>
      </div>
    </div>
  );
}

interface AuthorsProps {
  readonly authors: readonly Author[];
  readonly hues: Hues;
  readonly chosen: Author;
}

/** The main authors of the window, each with the bloom of their plants, and a link to all of those. */
function Authors({ authors, hues, chosen }: AuthorsProps): VNode {
  const shell = useShell();
  const { garden } = useWords();
  return (
    <ul class="garden-authors" aria-label={garden.authors} data-fresh="authors">
      {authors.map((author) => {
        const name = (
          <>
            <BloomSign author={author} hues={hues} />
            <Isolated text={visibleName(author ?? garden.unnamed)} />
          </>
        );
        return (
          <li key={author ?? ''}>
            {isWholeName(author) && author !== chosen ? (
              <a href={href(shell, addressWith('/garden', { author }))} rel="nofollow">
                {name}
              </a>
            ) : (
              <span>{name}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function BloomSign({ author, hues }: { author: Author; hues: Hues }): VNode {
  const growth = growBloom(author);
  const { height, reach } = growth;
  const half = Math.max(reach, height / 2);
  return (
    <svg
      class="garden-bloom"
      viewBox={`${-half} ${-height / 2 - half} ${2 * half} ${2 * half}`}
      aria-hidden="true"
    >
      <Outlines growth={growth} author={author} hues={hues} />
    </svg>
  );
}

function ActivityOverTime({ activity }: { readonly activity: Activity }): VNode {
  const shell = useShell();
  const { garden, house } = useWords();
  const series = KINDS.map((name) => {
    return { name, label: shell.kinds[name].name, counts: activity.counts[name] ?? [] };
  });
  const summary = series.map(({ label, counts }) => `${label}: ${sum(counts)}`).join(', ');
  const total = sum(series.map(({ counts }) => sum(counts)));
  return (
    <section class="activity" data-fresh="activity">
      <h2>{garden.activity}</h2>
      <ActivityPlot
        series={series}
        title={garden.activity}
        description={`${house.entries(total)}. ${summary}`}
      />
      <p class="activity-times">
        <Moment timestamp={new Date(activity.from).toISOString()} />
        <Moment timestamp={new Date(activity.to).toISOString()} />
      </p>
      <ul class="activity-kinds">
        {series.map(({ name, label, counts }) => (
          <li key={name} data-kind={name}>
            {label} <span>{sum(counts).toLocaleString(shell.locale)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function EntryList({ entries }: { readonly entries: readonly GardenEntry[] }): VNode {
  const shell = useShell();
  const { garden } = useWords();
  return (
    <section class="garden-list" data-fresh="list">
      {entries.length > 0 && <h2>{garden.newest}</h2>}
      <ol>
        {entries.map(({ id, seq, kind, author, text, time }) => (
          <li key={id} id={`e${seq}`} data-id={id}>
            <a href={href(shell, `/entries/${id}`)}>{shell.kinds[kind].name}</a>{' '}
            {author === undefined ? garden.unnamed : <VisitorLink name={author} entry={id} />}{' '}
            <Moment timestamp={new Date(time).toISOString()} />
            <p dir="auto">{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
