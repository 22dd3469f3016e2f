/** The garden: all entries as a picture over time, with their authors, their activity and a list. */
import type { Kind } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { ActivityPlot, type PlotSeries } from '../activity-plot.tsx';
import { useWithholdings } from '../entries/live-entries.ts';
import { Authors } from '../garden/authors.tsx';
import type { Activity, GardenEntry } from '../garden/garden-data.ts';
import { LivingPicture } from '../garden/living-picture.tsx';
import {
  type ChosenAuthor,
  distinctHues,
  mainAuthors,
  sortedApart,
} from '../garden/main-authors.ts';
import type { GardenPicture } from '../garden/picture.ts';
import { withoutWords } from '../garden/scene.ts';
import { Land, StillPicture } from '../garden/still-picture.tsx';
import { Moment } from '../moment.tsx';
import type { GardenPage } from '../page-data.ts';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { VisitorLink } from '../visitor-name.tsx';

/** The order in which the plot stacks them, from the ground up. */
const KINDS: readonly Kind[] = ['garden', 'seeds', 'shepit', 'resonance'];
const MAX_LISTED = 24;

export function Page({ data }: { readonly data: GardenPage }): VNode {
  const { garden } = useWords();
  const [picture, setPicture] = useState<GardenPicture>();
  const [authors, setAuthors] = useState(() => mainAuthors(data.entries));
  const [chosen, setChosen] = useState<ChosenAuthor>();
  const [entries, setEntries] = useState(data.entries);
  // A chosen author stays in the legend, so that the visitor can end the choice.
  const isGone = chosen !== undefined && !authors.includes(chosen.name);
  const shown = isGone ? [...authors, chosen.name] : authors;
  // The legend does not change while somebody tabs through it.
  const [isLegendFocused, setLegendFocused] = useState(false);
  const kept = useRef(shown);
  if (!isLegendFocused) kept.current = shown;
  const hues = useMemo(() => distinctHues(kept.current), [JSON.stringify(kept.current)]);
  useEffect(() => picture?.recolour(hues), [picture, hues]);
  const add = (added: readonly GardenEntry[]): void => {
    setEntries((before) => [...added.toReversed(), ...before].slice(0, MAX_LISTED));
  };
  const live = useRef<GardenPicture>(undefined);
  useWithholdings((withholdings) => {
    const ids = new Set(withholdings.map(({ id }) => id));
    setEntries((before) => before.map((entry) => withoutWords(entry, ids)));
    live.current?.withhold(ids);
  });
  const latest = useRef(chosen);
  latest.current = chosen;
  const choose = (author: ChosenAuthor | undefined, of = picture): void => {
    setChosen(author);
    of?.choose(author);
  };
  const begin = (begun: GardenPicture): void => {
    const { range, author, plant } = viewInAddress();
    live.current = begun;
    setPicture(begun);
    if (range !== undefined) begun.view.showPart(begun.timeline.places(range));
    if (author !== undefined) choose(author, begun);
    if (plant !== undefined) begun.focusTime(plant);
  };
  return (
    <div class="garden-page">
      <h1>{data.title}</h1>
      <p class="garden-lead">{garden.lead}</p>
      <div class="garden-picture">
        <Land />
        {picture === undefined && data.entries.length > 0 && (
          <StillPicture entries={data.entries} hues={hues} label={garden.picture} />
        )}
        <LivingPicture
          data={data}
          onLive={begin}
          onRest={(resting) => keepViewInAddress(resting, () => latest.current)}
          onAuthors={setAuthors}
          onEntries={add}
        />
        {entries.length === 0 && <p class="garden-empty">{garden.empty}</p>}
      </div>
      {entries.length > 0 && (
        <Authors
          authors={sortedApart(kept.current, hues)}
          hues={hues}
          chosen={chosen}
          onChoose={picture === undefined ? undefined : choose}
          onFocus={setLegendFocused}
        />
      )}
      {chosen?.name !== undefined && (
        <p class="quiet">
          {garden.allOf} <VisitorLink name={chosen.name} />
        </p>
      )}
      {chosen !== undefined && (
        <p>
          <button type="button" class="more" onClick={() => choose(undefined)}>
            {garden.showAll}
          </button>
        </p>
      )}
      {entries.length > 0 && <p class="garden-legend">{garden.legend}</p>}
      {entries.length > 0 && <ActivityOverTime activity={data.activity} />}
      <EntryList entries={entries} />
    </div>
  );
}

function ActivityOverTime({ activity }: { readonly activity: Activity }): VNode {
  const shell = useShell();
  const words = useWords();
  const series = KINDS.map((name) => {
    return { name, label: shell.kinds[name].name, counts: activity.counts[name] ?? [] };
  });
  const summary = series.map(({ label, counts }) => `${label}: ${sum(counts)}`).join(', ');
  const total = sum(series.map(({ counts }) => sum(counts)));
  return (
    <section class="activity">
      <h2>{words.garden.activity}</h2>
      <ActivityPlot
        series={series}
        title={words.garden.activity}
        description={`${words.house.entries(total)}. ${summary}`}
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
      <ActivityTable activity={activity} series={series} />
    </section>
  );
}

interface ActivityTableProps {
  readonly activity: Activity;
  readonly series: readonly PlotSeries[];
}

function ActivityTable({ activity, series }: ActivityTableProps): VNode {
  const { garden } = useWords();
  const { from, to } = activity;
  const spans = series[0]?.counts.length ?? 1;
  const rows = Array.from({ length: spans }, (_, index) => ({
    index,
    timestamp: new Date(from + ((to - from) * index) / spans).toISOString(),
    counts: series.map(({ counts }) => counts[index] ?? 0),
  })).filter(({ counts }) => sum(counts) > 0);
  return (
    <details class="activity-table">
      <summary>{garden.table}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{garden.time}</th>
            {series.map(({ name, label }) => (
              <th key={name} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ index, timestamp, counts }) => (
            <tr key={index}>
              <th scope="row">
                <Moment timestamp={timestamp} />
              </th>
              {counts.map((count, column) => (
                <td key={series[column]?.name}>{count}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function EntryList({ entries }: { readonly entries: readonly GardenEntry[] }): VNode | null {
  const shell = useShell();
  const { garden } = useWords();
  if (entries.length === 0) return null;
  return (
    <section class="garden-list">
      <h2>{garden.newest}</h2>
      <ol>
        {entries.map(({ id, kind, author, text, time }) => (
          <li key={id}>
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

/** The view that the address names: a range of time, whose plants stand out, and the time of the plant that is read. */
function viewInAddress() {
  const query = new URLSearchParams(location.search);
  const time = (name: string): number | undefined => {
    const value = Date.parse(query.get(name) ?? '');
    return Number.isNaN(value) ? undefined : value;
  };
  const [from, to] = [time('from'), time('to')];
  const name = query.get('author');
  return {
    range: from === undefined || to === undefined || from >= to ? undefined : { from, to },
    author: name === null ? undefined : { name: name === '' ? undefined : name },
    plant: time('plant'),
  };
}

/** Browsers refuse to change the address many times in a row. */
const PAUSE_MS = 300;
let isWaiting = false;

/** Writes the view after a pause, since it may go on moving. Asks for `author` only then. */
function keepViewInAddress(picture: GardenPicture, author: () => ChosenAuthor | undefined): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    writeView(picture, author());
  }, PAUSE_MS);
}

function writeView(
  { view, timeline, focused }: Pick<GardenPicture, 'view' | 'timeline' | 'focused'>,
  author: ChosenAuthor | undefined,
): void {
  const { part } = view;
  const iso = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString();
  const address = addressWith(location.pathname + location.search, {
    from: iso(part && Math.floor(timeline.timeAt(part.from))),
    to: iso(part && Math.ceil(timeline.timeAt(part.to))),
    author: author && (author.name ?? ''),
    plant: iso(focused && timeline.timeAt(focused.time)),
  });
  if (address !== location.pathname + location.search)
    history.replaceState(history.state, '', address + location.hash);
}
