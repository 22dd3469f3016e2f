/** Follows the log by requests that wait for what is new. */
import type { GardenEntry } from './garden-data.ts';
import { fetchGarden } from './tile-cache.ts';

const WAIT_SECONDS = 25;
const RETRY_MS = 3000;

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
