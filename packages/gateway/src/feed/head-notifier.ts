/** Wakes a log's followers in one thread: together and with one head, so that what they read can be shared. */
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';

import type { Log, Seq } from '../log/log.ts';

interface Waiter {
  readonly after: Seq;
  readonly resolve: (head: Seq | undefined) => void;
}

/** Minimum time between two notifications. */
const INTERVAL_MS = 10;
/** Waiters notified per iteration of the event loop, so that other work can run in between. */
const BATCH_SIZE = 64;

const notifiers = new WeakMap<Log, HeadNotifier>();

export class HeadNotifier {
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
    let notifier = notifiers.get(log);
    if (notifier === undefined) {
      notifier = new HeadNotifier(log);
      notifiers.set(log, notifier);
    }
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
