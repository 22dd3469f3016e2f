/** Loads the tiles of a view and keeps the most recently used ones. Also follows new entries. */
import { fetchJson } from '../../fetch-json.ts';
import type { Activity, GardenEntries, GardenEntry } from '../garden-data.ts';
import {
  MAX_SINGLE,
  SPANS_PER_TILE,
  sparseRuns,
  type Tile,
  type TileKey,
  tileOf,
  withEntry,
} from './tile.ts';

/** At most about 30,000 entries: 20 in each of 32 spans of a tile. */
const MAX_TILES = 48;
const RETRY_MS = 3000;

export class TileCache {
  /** By name, the most recently used last. */
  readonly #tiles = new Map<string, Tile>();
  readonly #loading = new Map<string, AbortController>();
  readonly #onLoaded: () => void;
  /** Entries that came while tiles were loading: those tiles may lack them. */
  readonly #recent: GardenEntry[] = [];

  constructor(onLoaded: () => void) {
    this.#onLoaded = onLoaded;
  }

  /** The tiles, or undefined while one of them is loading. Stops loading tiles that are not asked for. */
  request(keys: readonly TileKey[]): Tile[] | undefined {
    for (const [name, controller] of this.#loading) {
      if (keys.some((key) => key.name === name)) continue;
      controller.abort();
      this.#loading.delete(name);
    }
    const found = keys.map((key) => this.#find(key));
    return found.every((tile) => tile !== undefined) ? found : undefined;
  }

  add(entry: GardenEntry): void {
    if (this.#loading.size > 0) this.#recent.push(entry);
    for (const [name, tile] of this.#tiles) {
      if (has(tile, entry)) this.#tiles.set(name, withEntry(tile, entry));
    }
  }

  close(): void {
    for (const controller of this.#loading.values()) controller.abort();
    this.#loading.clear();
  }

  #find(key: TileKey): Tile | undefined {
    const tile = this.#tiles.get(key.name);
    if (tile === undefined) {
      if (!this.#loading.has(key.name)) void this.#load(key);
      return undefined;
    }
    this.#tiles.delete(key.name);
    this.#tiles.set(key.name, tile);
    return tile;
  }

  async #load(key: TileKey): Promise<void> {
    const controller = new AbortController();
    this.#loading.set(key.name, controller);
    const { signal } = controller;
    try {
      const activity = await fetchActivity(key, signal);
      const pages = sparseRuns(activity).map(({ from, to }) => {
        return fetchGarden(`order=oldest&after=${from - 1}&before=${to}`, signal);
      });
      const entries = (await Promise.all(pages)).flatMap((page) => page.entries);
      const missed = this.#recent.filter(({ seq }) => seq > activity.head);
      const tile = missed
        .filter((entry) => has(key, entry))
        .reduce(withEntry, tileOf(key, activity, entries));
      this.#tiles.set(key.name, tile);
      this.#forgetOldest();
    } catch {
      if (signal.aborted) return;
      await new Promise((resolve) => void setTimeout(resolve, RETRY_MS));
    }
    if (this.#loading.get(key.name) === controller) this.#loading.delete(key.name);
    if (this.#loading.size === 0) this.#recent.length = 0;
    if (!signal.aborted) this.#onLoaded();
  }

  #forgetOldest(): void {
    for (const name of this.#tiles.keys()) {
      if (this.#tiles.size <= MAX_TILES) return;
      this.#tiles.delete(name);
    }
  }
}

export async function fetchGarden(query: string, signal: AbortSignal): Promise<GardenEntries> {
  return (await fetchJson(`/web/garden?${query}`, signal)) as GardenEntries;
}

async function fetchActivity({ from, to }: TileKey, signal: AbortSignal): Promise<Activity> {
  const range = `spans=${SPANS_PER_TILE}&from=${from}&to=${to}`;
  const query = `by=kind&${range}&samples=${MAX_SINGLE}`;
  return (await fetchJson(`/web/activity?${query}`, signal)) as Activity;
}

function has({ from, to }: TileKey, { time }: GardenEntry): boolean {
  return time >= from && time < to;
}

const WAIT_SECONDS = 25;

/** Calls back with the entries after a seq, each once and in order, until it is aborted. */
export async function followEntries(
  after: number,
  signal: AbortSignal,
  onEntries: (entries: readonly GardenEntry[]) => void,
): Promise<void> {
  let cursor = after;
  while (!signal.aborted) {
    try {
      const query = `order=oldest&after=${cursor}&wait=${WAIT_SECONDS}&limit=200`;
      const { entries } = await fetchGarden(query, signal);
      cursor = entries.at(-1)?.seq ?? cursor;
      if (entries.length > 0) onEntries(entries);
    } catch {
      if (signal.aborted) return;
      await new Promise((resolve) => void setTimeout(resolve, RETRY_MS));
    }
  }
}
