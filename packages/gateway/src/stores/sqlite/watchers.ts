/** Those in this thread who want to know when the head moves. */
import type { Shared } from './shared.ts';

export class Watchers implements Disposable {
  readonly #shared: Shared;
  readonly #watchers = new Set<() => void>();
  #looking = false;
  #closed = false;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  add(moved: () => void): Disposable {
    // A callback that is given twice counts twice.
    const watcher = (): void => moved();
    this.#watchers.add(watcher);
    if (!this.#looking) void this.#look();
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#shared.stir();
  }

  /** Waits for the head while anybody wants to know. */
  async #look(): Promise<void> {
    this.#looking = true;
    for (let { head } = this.#shared; this.#watchers.size > 0 && !this.#closed;) {
      await this.#shared.moved(head);
      if (this.#shared.head === head) continue;
      head = this.#shared.head;
      for (const watcher of this.#watchers) watcher();
    }
    this.#looking = false;
  }
}
