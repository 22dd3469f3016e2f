/** Waiting until a selection has a new entry (PROTOCOL.md section 12.4). */
import { addAbortListener } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Log, Selection, Seq } from '../log/log.ts';
import { follow } from './follow.ts';

/** The longest timer of Node, 24 days. Whoever would wait longer waits for news alone. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const POLL_INTERVAL_MS = 100;

export interface WaitOptions {
  readonly timeoutMs: number;
  /** Any of them ends the waiting. */
  readonly signals: readonly AbortSignal[];
}

/** Resolves when the selection has an entry after its cursor, on timeout, or on a signal. */
export async function waitForEntries(
  log: Log,
  selection: Selection & { readonly after: Seq },
  { timeoutMs, signals }: WaitOptions,
): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  using opened = new DisposableStack();
  const timer = timeoutMs > MAX_TIMER_MS ? undefined : setTimeout(end, timeoutMs);
  opened.defer(() => clearTimeout(timer));
  for (const signal of signals) opened.use(addAbortListener(signal, end));
  const { signal } = ending;
  try {
    const reading = { ...selection, signal };
    if (selection.textQuery === undefined) await waitForHead(log, reading, signal);
    else await waitForWatermark(log, reading, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function waitForHead(
  log: Log,
  selection: Selection & { readonly after: Seq },
  signal: AbortSignal,
): Promise<void> {
  const { after, before = Infinity } = selection;
  for await (const range of follow(log, selection, { after, signal })) {
    const newest = { ...range, before: Math.min(before, range.before), limit: 1 };
    for await (const _ of log.readEntries(newest)) return;
  }
}

/** The search watermark follows the head with a small lag. */
async function waitForWatermark(
  log: Log,
  selection: Selection & { readonly after: Seq },
  signal: AbortSignal,
): Promise<void> {
  const { before = Infinity } = selection;
  for (let { after } = selection; !signal.aborted;) {
    const watermark = log.searchWatermark();
    if (watermark > after) {
      const range = { after, before: Math.min(before, watermark + 1) };
      const first = { ...selection, ...range, order: 'oldest', limit: 1 } as const;
      for await (const _ of log.readEntries(first)) return;
      after = watermark;
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}
