/**
 * Wakes the followers of one log in one thread. Several commits make one ring where they come fast,
 * and all who wait are told the same head, so that what they read can be shared.
 */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

import type { Log, Seq } from '../log/log.ts';

interface Waiter {
  readonly after: Seq;
  readonly told: (head: Seq | undefined) => void;
}

/** The least time between two rings, in ms; what comes sooner is told together. */
const PACE = 10;
/** Followers woken within one turn of the event loop: others have their turn in between. */
const WOKEN_TOGETHER = 64;

const bells = new WeakMap<Log, HeadNotifier>();

export class HeadNotifier {
  readonly #log: Log;
  #waiters = new Set<Waiter>();
  /** The head that was told last. */
  #told: Seq = 0;
  #watching: Disposable | undefined;
  #ringing = false;

  private constructor(log: Log) {
    this.#log = log;
  }

  static of(log: Log): HeadNotifier {
    const known = bells.get(log);
    if (known !== undefined) return known;
    const bell = new HeadNotifier(log);
    bells.set(log, bell);
    return bell;
  }

  /** Tells a head beyond `after`, once, perhaps at once. Disposing of it tells undefined. */
  await(after: Seq, told: (head: Seq | undefined) => void): Disposable | undefined {
    this.#watch();
    if (after < this.#told) {
      told(this.#told);
      return undefined;
    }
    const waiter = { after, told };
    this.#waiters.add(waiter);
    return {
      [Symbol.dispose]: () => {
        if (this.#waiters.delete(waiter)) told(undefined);
      },
    };
  }

  #watch(): void {
    if (this.#watching !== undefined) return;
    this.#told = Math.max(this.#told, this.#log.head());
    this.#watching = this.#log.watch(() => {
      if (!this.#ringing) void this.#ring();
    });
  }

  async #ring(): Promise<void> {
    this.#ringing = true;
    this.#told = this.#log.head();
    const woken = [...this.#waiters].filter(({ after }) => after < this.#told);
    if (this.#waiters.size === 0) this.#rest();
    for (const [index, waiter] of woken.entries()) {
      if (index > 0 && index % WOKEN_TOGETHER === 0) await turn();
      // It may have gone meanwhile.
      if (this.#waiters.delete(waiter)) waiter.told(this.#told);
    }
    await pause(PACE, undefined, { ref: false });
    this.#ringing = false;
    if (this.#watching !== undefined && this.#log.head() > this.#told) void this.#ring();
  }

  /** Nobody waits: commits need not be heard of. */
  #rest(): void {
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
  }
}
