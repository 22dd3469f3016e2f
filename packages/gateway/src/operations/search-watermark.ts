/** How far search is behind the log: waiting for it, and saying so (PROTOCOL.md section 14.4). */
import { setTimeout as sleep } from 'node:timers/promises';

import { queryNotes } from '../intake/parse-text-query.ts';
import type { Log, Selection, Seq } from '../log/log.ts';

/** Matches every spelling of the parameter `q`, so that URLs without it are not parsed. */
const Q = /[?&](?:q|%71)(?:=|&|$)/;

/** How long a search waits for words that are on their way to the index. */
const MAX_WAIT_MS = 1000;
const POLL_INTERVAL_MS = 20;
/** More entries are not indexed in that time, so there is no use in waiting. */
const MAX_LAG = 65_536;

/** Whether the URL has a parameter `q`. */
export function isSearch(url: string): boolean {
  return Q.test(url);
}

/** Undefined for a URL without `q`: then the response depends only on the head. */
export function searchWatermarkFor(log: Log, url: string): Seq | undefined {
  return isSearch(url) ? log.searchWatermark() : undefined;
}

/**
 * Waits until everything that is stored now is searchable, for a second at most; not at all if a second would
 * not do. Throws if aborted.
 */
export async function untilSearchable(log: Log, signal: AbortSignal): Promise<void> {
  const head = log.head();
  const end = performance.now() + MAX_WAIT_MS;
  const isClose = (): boolean => {
    const lag = head - log.searchWatermark();
    return lag > 0 && lag <= MAX_LAG && performance.now() < end;
  };
  while (isClose()) {
    await sleep(POLL_INTERVAL_MS);
    signal.throwIfAborted();
  }
}

/**
 * Notes on how the words were read, and on entries that cannot be searched yet. Without a watermark, nothing is
 * searched.
 */
export function searchNotes(
  parameters: URLSearchParams,
  { before = Infinity }: Pick<Selection, 'before'>,
  { head, watermark }: { readonly head: Seq; readonly watermark: Seq | undefined },
): readonly string[] {
  if (watermark === undefined) return [];
  const notes = queryNotes(parameters.getAll('q'));
  if (watermark >= Math.min(head, before - 1)) return notes;
  return [
    ...notes,
    `Search has read the log up to seq ${watermark}, and its head is ${head}: newer entries may match too. Search again in a moment.`,
  ];
}
