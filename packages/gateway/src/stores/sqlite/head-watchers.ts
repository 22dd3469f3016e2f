import type { SharedState } from './shared-state.ts';

/** Calls back in this thread when the head moves, or entries were withheld. Waits only while there are callbacks. */
export class HeadWatchers implements Disposable {
  readonly #shared: SharedState;
  readonly #callbacks = new Set<() => void>();
  #waiting = false;
  #closed = false;

  constructor(shared: SharedState) {
    this.#shared = shared;
  }

  add(onMove: () => void): Disposable {
    // A wrapper, so that a callback that is added twice is called twice.
    const callback = (): void => onMove();
    this.#callbacks.add(callback);
    if (!this.#waiting) void this.#wait();
    return { [Symbol.dispose]: () => void this.#callbacks.delete(callback) };
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#shared.wakeWaiters();
  }

  async #wait(): Promise<void> {
    this.#waiting = true;
    for (let { head, withheld } = this.#shared; this.#callbacks.size > 0 && !this.#closed;) {
      await this.#shared.headMoved(head);
      if (this.#shared.head === head && this.#shared.withheld === withheld) continue;
      ({ head, withheld } = this.#shared);
      for (const callback of this.#callbacks) callback();
    }
    this.#waiting = false;
  }
}
