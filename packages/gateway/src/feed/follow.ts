/**
 * Following the log. A follower is a cursor, not a queue: it reads new entries from the log when it
 * is ready for them, so a stalled follower costs nothing and misses nothing.
 *
 * Owns when followers are woken; knows neither who follows nor how entries are sent. Followers that
 * keep up get the same ranges.
 *
 * Invariant: A follower has each entry once, in order, however slowly it asks.
 * Test: `packages/gateway/src/feed/follow.test.ts` “follow() gives everything after the cursor,
 *   then what is new, once and in order” “follow() misses nothing for a follower that is slow”
 */
import { addAbortListener } from 'node:events';
import type { Log, Selection, Seq } from '../log/log.ts';
import { HeadNotifier } from './head-notifier.ts';

export interface FollowOptions {
  /** The last entry seen. */
  readonly after: Seq;
  /** Ends the following, also while it waits. */
  readonly signal: AbortSignal;
}

/** A range of the log that a follower has not read yet. It may have none of the selected entries. */
export interface LogRange extends Selection {
  readonly order: 'oldest';
  readonly after: Seq;
  readonly before: Seq;
}

/** Yields the range after the cursor, then a range each time the head has moved, until the signal. */
export async function* follow(
  log: Log,
  selection: Pick<Selection, 'facets' | 'since' | 'limit'>,
  { after, signal }: FollowOptions,
): AsyncGenerator<LogRange, void, undefined> {
  const notifier = HeadNotifier.of(log);
  let waiting: Disposable | undefined;
  const end = (): void => waiting?.[Symbol.dispose]();
  using _aborting = addAbortListener(signal, end);
  try {
    for (let cursor = after; !signal.aborted;) {
      const head = await new Promise<Seq | undefined>((resolve) => {
        waiting = notifier.wait(cursor, resolve);
      });
      if (head === undefined || signal.aborted) return;
      yield { ...selection, order: 'oldest', after: cursor, before: head + 1 };
      cursor = head;
    }
  } finally {
    end();
  }
}
