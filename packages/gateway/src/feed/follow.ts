/**
 * Following the log: a follower is a cursor, not a queue. What is new is read from the log when the
 * follower asks, so one that stalls costs nothing and misses nothing.
 *
 * Owns waking, and its pace; refuses to know who follows and how entries are shown. Upholds:
 * - each entry of the selection after the cursor is in exactly one of the selections that come, in
 *   the order of the log, however slowly they are asked for.
 * - followers that keep up are given the same selections.
 */
import type { Log, Selection, Seq } from '../log/log.ts';
import { HeadNotifier } from './head-notifier.ts';

export interface FollowOptions {
  /** The entry seen last. */
  readonly after: Seq;
  /** Ends the following, also while it waits. */
  readonly signal: AbortSignal;
}

/** A stretch of the log that a follower has not seen, oldest first. Perhaps nothing is in it. */
export interface LogRange extends Selection {
  readonly order: 'oldest';
  readonly after: Seq;
  readonly before: Seq;
}

/** What is selected beyond the cursor, then what is new each time, until the signal. */
export async function* follow(
  log: Log,
  selection: Pick<Selection, 'facets' | 'since' | 'limit'>,
  { after, signal }: FollowOptions,
): AsyncGenerator<LogRange, void, undefined> {
  const bell = HeadNotifier.of(log);
  let waiting: Disposable | undefined;
  const end = (): void => waiting?.[Symbol.dispose]();
  signal.addEventListener('abort', end);
  try {
    for (let cursor = after; !signal.aborted;) {
      const head = await new Promise<Seq | undefined>((told) => {
        waiting = bell.await(cursor, told);
      });
      if (head === undefined || signal.aborted) return;
      yield { ...selection, order: 'oldest', after: cursor, before: head + 1 };
      cursor = head;
    }
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}
