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
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';

import type { Log, Selection, Seq } from '../log/log.ts';

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
  selection: Pick<Selection, 'facets' | 'since' | 'limit' | 'withheld'>,
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

interface Waiter {
  readonly after: Seq;
  readonly resolve: (head: Seq | undefined) => void;
}

/** Minimum time between two notifications. */
const INTERVAL_MS = 10;
/** Waiters notified per iteration of the event loop, so that other work can run in between. */
const BATCH_SIZE = 64;

const notifiers = new WeakMap<Log, HeadNotifier>();

/** Wakes a log's followers in one thread: together and with one head, so that what they read can be shared. */
class HeadNotifier {
  readonly #log: Log;
  #waiters = new Set<Waiter>();
  /** The head of the last notification. */
  #head: Seq = 0;
  #watching: Disposable | undefined;
  #isNotifying = false;

  private constructor(log: Log) {
    this.#log = log;
  }

  /** The one notifier of the log in this thread. */
  static of(log: Log): HeadNotifier {
    const notifier = notifiers.get(log) ?? new HeadNotifier(log);
    notifiers.set(log, notifier);
    return notifier;
  }

  /**
   * Calls back once with a head greater than `after`, perhaps now. Calls back with undefined if it is disposed
   * of first.
   */
  wait(after: Seq, resolve: (head: Seq | undefined) => void): Disposable | undefined {
    this.#watch();
    if (after < this.#head) {
      resolve(this.#head);
      return undefined;
    }
    const waiter = { after, resolve };
    this.#waiters.add(waiter);
    return {
      [Symbol.dispose]: () => {
        if (this.#waiters.delete(waiter)) resolve(undefined);
      },
    };
  }

  #watch(): void {
    if (this.#watching !== undefined) return;
    this.#head = Math.max(this.#head, this.#log.head());
    this.#watching = this.#log.watch(() => {
      if (!this.#isNotifying) void this.#notify();
    });
  }

  async #notify(): Promise<void> {
    this.#isNotifying = true;
    this.#head = this.#log.head();
    const reached = [...this.#waiters].filter(({ after }) => after < this.#head);
    if (this.#waiters.size === 0) this.#unwatch();
    for (const [index, waiter] of reached.entries()) {
      if (index > 0 && index % BATCH_SIZE === 0) await nextTick();
      // It may have been disposed of meanwhile.
      if (this.#waiters.delete(waiter)) waiter.resolve(this.#head);
    }
    await sleep(INTERVAL_MS, undefined, { ref: false });
    this.#isNotifying = false;
    if (this.#watching !== undefined && this.#log.head() > this.#head) void this.#notify();
  }

  #unwatch(): void {
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
  }
}
