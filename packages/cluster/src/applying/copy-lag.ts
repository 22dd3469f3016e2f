/** Measures how far this copy is behind its stream, and writes it into the state that all threads share. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { ReplicaState } from '@open-presence/gateway/replica';

const INTERVAL_MS = 2000;

export interface MeasuredCopy {
  /** The newest message of the stream. Throws if the servers cannot be asked. */
  readonly lastOfStream: () => Promise<number>;
  /** The newest message that this copy has applied, with all before it. */
  readonly applied: () => number;
}

/** Measures until aborted. While the servers cannot be asked, both values stay as they are. */
export async function measureLag(
  { lastOfStream, applied }: MeasuredCopy,
  state: Pick<ReplicaState, 'messagesBehind' | 'completeAt'>,
  signal: AbortSignal,
): Promise<void> {
  // The newest message at an earlier time: once it is applied, the copy was complete at that time.
  let asked: { readonly at: number; readonly last: number } | undefined;
  while (!signal.aborted) {
    try {
      const at = Date.now();
      const last = await lastOfStream();
      const done = applied();
      if (asked !== undefined && done >= asked.last) state.completeAt = asked.at;
      if (asked === undefined || done >= asked.last) asked = { at, last };
      if (done >= last) state.completeAt = at;
      state.messagesBehind = Math.max(0, last - done);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}
