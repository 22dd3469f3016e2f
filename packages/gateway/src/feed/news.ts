/** Waiting until a selection has something new (PROTOCOL.md section 12.4). */
import type { Log, Selection, Seq } from '../log/log.ts';
import { follow } from './follow.ts';

/** What a timer can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface Wait {
  /** In ms, of any length. */
  readonly wait: number;
  /** Aborted when nobody waits any more. */
  readonly signals: readonly AbortSignal[];
}

/** Resolves when the selection has an entry after its cursor, the time is up, or a signal says so. */
export async function newsOf(
  log: Log,
  selection: Selection & { readonly after: Seq },
  { wait, signals }: Wait,
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
    for await (const news of follow(log, selection, { after, signal: ending.signal })) {
      const bounded = { ...news, before: Math.min(before, news.before), limit: 1 };
      for await (const _ of log.entries(bounded)) return;
    }
  } finally {
    timer[Symbol.dispose]();
    for (const signal of signals) signal.removeEventListener('abort', end);
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
