/**
 * A tile is a range of time in equal spans, aligned to powers of two, so that it can be loaded once and shown
 * again. It has all entries of sparse spans, and counts and a few samples of dense ones. All pure.
 */
import type { Activity, GardenEntry, TimeRange } from '../garden-data.ts';
import { lengthOf } from './time-view.ts';
import type { Timeline } from './timeline.ts';

export const SPANS_PER_TILE = 32;
/** A span with more entries than this is dense: its entries are shown together, as a meadow. */
export const MAX_SINGLE = 20;
/** Least width of a span in CSS pixels. The greatest is twice that. */
const MIN_SPAN_WIDTH = 28;

export interface TileKey extends TimeRange {
  readonly name: string;
  /** Length of a span in ms. */
  readonly span: number;
}

/** An entry and its time, with decimals: entries of the same millisecond are spread over it. */
export interface PlacedEntry {
  readonly entry: GardenEntry;
  readonly time: number;
}

export interface Meadow extends TimeRange {
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
  /** A few of the entries, which are shown one by one too. */
  readonly samples: readonly GardenEntry[];
}

export interface Tile extends TileKey {
  readonly singles: PlacedEntry[];
  readonly meadows: Meadow[];
}

/** The tiles that a view of this width in pixels needs. Folded time needs none. */
export function tilesIn(view: TimeRange, width: number, timeline: Timeline): TileKey[] {
  const shortest = (lengthOf(view) / Math.max(1, width)) * MIN_SPAN_WIDTH;
  const level = Math.ceil(Math.log2(shortest));
  const span = 2 ** level;
  const length = span * SPANS_PER_TILE;
  const tiles = new Map<string, TileKey>();
  for (const range of timeline.unfolded(view)) {
    for (let at = Math.floor(range.from / length); at <= Math.floor(range.to / length); at += 1) {
      const name = `${level} ${at}`;
      tiles.set(name, { name, span, from: at * length, to: (at + 1) * length });
    }
  }
  return [...tiles.values()];
}

/**
 * The entries that a tile needs one by one, those of its sparse spans, as runs of consecutive ones: `from` is the seq
 * of the first, `to` the seq after the last.
 */
export function sparseRuns({ bounds, counts }: Activity): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (let index = 0; index < bounds.length - 1; index += 1) {
    const [from = 0, to = 0] = bounds.slice(index, index + 2);
    const total = totalAt(counts, index);
    if (total === 0 || total > MAX_SINGLE) continue;
    const last = runs.at(-1);
    if (last?.to === from) last.to = to;
    else runs.push({ from, to });
  }
  return runs;
}

/** Makes a tile of its counts and of the entries of its sparse spans, in their order. */
export function tileOf(key: TileKey, activity: Activity, entries: readonly GardenEntry[]): Tile {
  const meadows: Meadow[] = [];
  for (let index = 0; index < SPANS_PER_TILE; index += 1) {
    const total = totalAt(activity.counts, index);
    if (total <= MAX_SINGLE) continue;
    const from = key.from + index * key.span;
    const counts: Record<string, number> = {};
    for (const [kind, spans] of Object.entries(activity.counts)) counts[kind] = spans[index] ?? 0;
    const samples = activity.samples?.[index] ?? [];
    meadows.push({ from, to: from + key.span, counts, total, samples });
  }
  const all = [...entries, ...meadows.flatMap(({ samples }) => samples)];
  const singles = key.span < 1 ? spreadOverSpans(key, activity, all) : spreadOverMilliseconds(all);
  return { ...key, singles, meadows };
}

export function withEntry(tile: Tile, entry: GardenEntry): Tile {
  const { span, singles, meadows } = tile;
  const from = tile.from + Math.floor((entry.time - tile.from) / span) * span;
  const meadow = meadows.find((candidate) => candidate.from === from);
  if (meadow !== undefined) {
    const counts = { ...meadow.counts, [entry.kind]: (meadow.counts[entry.kind] ?? 0) + 1 };
    const grown = { ...meadow, counts, total: meadow.total + 1 };
    return { ...tile, meadows: meadows.map((other) => (other === meadow ? grown : other)) };
  }
  return { ...tile, singles: [...singles, { entry, time: entry.time }] };
}

function totalAt(counts: Activity['counts'], index: number): number {
  return Object.values(counts).reduce((sum, spans) => sum + (spans[index] ?? 0), 0);
}

function spreadOverMilliseconds(entries: readonly GardenEntry[]): PlacedEntry[] {
  const counts = new Map<number, number>();
  for (const { time } of entries) counts.set(time, (counts.get(time) ?? 0) + 1);
  const before = new Map<number, number>();
  return entries.map((entry) => {
    const index = before.get(entry.time) ?? 0;
    before.set(entry.time, index + 1);
    return { entry, time: entry.time + index / (counts.get(entry.time) ?? 1) };
  });
}

function spreadOverSpans(
  { from, span }: TileKey,
  { bounds }: Activity,
  entries: readonly GardenEntry[],
): PlacedEntry[] {
  return entries.map((entry) => {
    const index = bounds.findLastIndex((bound) => bound <= entry.seq);
    const [first = 0, end = 1] = bounds.slice(index, index + 2);
    const along = (entry.seq - first + 0.5) / Math.max(1, end - first);
    return { entry, time: from + (index + along) * span };
  });
}
