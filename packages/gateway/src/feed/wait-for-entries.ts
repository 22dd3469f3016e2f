/** Waiting until a selection has something new (PROTOCOL.md section 12.4). */
import { setTimeout as pause } from 'node:timers/promises';

import type { Log, Selection, Seq } from '../log/log.ts';
import { follow } from './follow.ts';

/** What a timer can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** How often it is looked whether more words are known. */
const LOOK_MS = 100;

export interface WaitOptions {
  /** In ms, of any length. */
  readonly timeoutMs: number;
  /** Aborted when nobody waits any more. */
  readonly signals: readonly AbortSignal[];
}

/** Resolves when the selection has an entry after its cursor, the time is up, or a signal says so. */
export async function waitForEntries(
  log: Log,
  selection: Selection & { readonly after: Seq },
  { timeoutMs: wait, signals }: WaitOptions,
): Promise<void> {
  const { after, before = Infinity } = selection;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeoutAt(performance.now() + wait, end);
  for (const signal of signals) {
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  }
  try {
    if (selection.textQuery !== undefined) {
      await searchedNews(log, selection, ending.signal);
      return;
    }
    for await (const news of follow(log, selection, { after, signal: ending.signal })) {
      const bounded = { ...news, before: Math.min(before, news.before), limit: 1 };
      for await (const _ of log.readEntries(bounded)) return;
    }
  } finally {
    timer[Symbol.dispose]();
    for (const signal of signals) signal.removeEventListener('abort', end);
  }
}

/** Words are known a moment after the head has moved. */
async function searchedNews(
  log: Log,
  selection: Selection & { readonly after: Seq },
  signal: AbortSignal,
): Promise<void> {
  const { before = Infinity } = selection;
  for (let { after } = selection; !signal.aborted;) {
    const known = log.searchWatermark();
    if (known > after) {
      const upTo = { before: Math.min(before, known + 1), order: 'oldest', limit: 1 } as const;
      for await (const _ of log.readEntries({ ...selection, after, ...upTo })) return;
      after = known;
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

/** A timer of any length. */
function setTimeoutAt(until: number, done: () => void): Disposable {
  let timer: NodeJS.Timeout;
  const set = (): void => {
    const left = until - performance.now();
    if (left <= 0) done();
    else timer = setTimeout(set, Math.min(left, LONGEST_TIMER));
  };
  timer = setTimeout(set, Math.min(Math.max(0, until - performance.now()), LONGEST_TIMER));
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
