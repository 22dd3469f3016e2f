/** The scene: the growths and meadows in the picture, in the order of time. */
import type { GardenEntry, TimeRange } from './garden-data.ts';
import { type Place, placeOf } from './place.ts';
import type { Meadow, PlacedEntry, Tile } from './time/tile.ts';
import type { Timeline } from './time/timeline.ts';

export interface SceneGrowth {
  readonly item: 'growth';
  readonly entry: GardenEntry;
  /** A place on the timeline. */
  readonly time: number;
  readonly place: Place;
  parent?: SceneGrowth;
}

export interface SceneMeadow extends Meadow {
  readonly item: 'meadow';
  /** Where it stands on the timeline, and its middle. */
  readonly places: TimeRange;
  readonly time: number;
}

export type SceneItem = SceneGrowth | SceneMeadow;

export interface Scene {
  /** By time. */
  readonly items: readonly SceneItem[];
  /** From far to near. */
  readonly growths: readonly SceneGrowth[];
  readonly meadows: readonly SceneMeadow[];
}

/** `withheld`: the ids of entries that are shown without their words. */
export function sceneOfTiles(
  tiles: readonly Tile[],
  timeline: Timeline,
  withheld: ReadonlySet<string>,
): Scene {
  return sceneOf(
    timeline,
    tiles
      .flatMap((tile) => tile.singles)
      .map(({ entry, time }) => ({ entry: withoutWords(entry, withheld), time })),
    tiles.flatMap((tile) => tile.meadows),
  );
}

export function withoutWords(entry: GardenEntry, withheld: ReadonlySet<string>): GardenEntry {
  return withheld.has(entry.id) ? { ...entry, text: '', author: undefined } : entry;
}

export function sceneOfEntries(entries: readonly GardenEntry[], timeline: Timeline): Scene {
  return sceneOf(
    timeline,
    entries.map((entry) => ({ entry, time: entry.time })),
    [],
  );
}

function sceneOf(
  timeline: Timeline,
  entries: readonly PlacedEntry[],
  dense: readonly Meadow[],
): Scene {
  const growths = entries.map(({ entry, time }): SceneGrowth => {
    return { item: 'growth', entry, time: timeline.at(time), place: placeOf(entry) };
  });
  const byId = new Map(growths.map((growth) => [growth.entry.id, growth]));
  for (const growth of growths) {
    const parent = byId.get(growth.entry.inReplyTo ?? '');
    if (parent !== undefined && parent !== growth) growth.parent = parent;
  }
  const meadows = dense.map((meadow): SceneMeadow => {
    const places = timeline.places(meadow);
    return { item: 'meadow', ...meadow, places, time: (places.from + places.to) / 2 };
  });
  return {
    items: [...growths, ...meadows].toSorted((a, b) => a.time - b.time),
    growths: growths.toSorted((a, b) => a.place.depth - b.place.depth),
    meadows,
  };
}

/** Names an item: the same item has the same name in every scene. */
export function nameOf(item: SceneItem): string {
  return item.item === 'growth' ? item.entry.id : `meadow ${item.from} ${item.to}`;
}

/** The query of `/web/garden` for the entry after an item, or before it. */
export function queryBeyond(item: SceneItem, step: 1 | -1): string {
  if (item.item === 'growth') {
    const { seq } = item.entry;
    return step > 0 ? `order=oldest&after=${seq}&limit=1` : `order=newest&before=${seq}&limit=1`;
  }
  const time = (at: number): string => encodeURIComponent(new Date(at).toISOString());
  return step > 0
    ? `order=oldest&since=${time(item.to)}&limit=1`
    : `order=newest&until=${time(item.from)}&limit=1`;
}
