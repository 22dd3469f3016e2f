/**
 * Lets uploads take only some of the threads of libuv's pool, which all threads of the process share:
 * on a slow disk, each write and each flush takes one of them for long, and readers need some too.
 *
 * Invariant: Readers of files wait for no upload, however many uploads wait for the disk.
 * Test: `test/crash/flush.test.ts` “flushes that take long: many uploads that wait for them delay
 *   no reader”
 */
import type { SharedState } from '../shared-state.ts';

export class UploadThreads {
  readonly #shared: SharedState;
  #last: Promise<void> = Promise.resolve();

  constructor(shared: SharedState) {
    this.#shared = shared;
  }

  /** Starts the work in its turn. The work may occupy one thread at a time, and must not call this. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // One upload of each thread waits for the shared count. The thread's other uploads queue here.
    this.#last = this.#last.then(() => this.#take());
    await this.#last;
    try {
      return await work();
    } finally {
      this.#shared.releaseUploadThread();
    }
  }

  async #take(): Promise<void> {
    while (!this.#shared.takeUploadThread()) await this.#shared.uploadThreadReleased();
  }
}
