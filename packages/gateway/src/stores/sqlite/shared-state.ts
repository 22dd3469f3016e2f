/**
 * What the threads of the store share through memory: the head, the watermarks of the index and of
 * search, whether entries can be stored, how far their clock is ahead, and how many threads of the
 * process's pool uploads may take.
 */
import { SHARED_SEGMENTS_SIZE, SharedSegments } from './shared-segments.ts';

const HEAD = 0;
const INDEXED = 1;
const READ_ONLY = 2;
const DAMAGE = 5;
const CLOCK_AHEAD = 10;
const UPLOAD_THREADS = 11;
const WITHHELD = 13;
const WITHHELD_IN_LOG = 14;
const DERIVED_WITHHELD = 15;
const HAS_INDEXES = 17;
const STREAM_HOLDING = 19;
const MESSAGES_BEHIND = 20;
const COMPLETE_AT = 21;
const KEYS_SPOILED = 22;
const SEARCH_FAILING = 23;
const CELLS = 24;
const SIZE = 8 * CELLS + SHARED_SEGMENTS_SIZE;

export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly segments: SharedSegments;
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SIZE)) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory, 0, CELLS);
    this.segments = new SharedSegments(memory, 8 * CELLS);
  }

  /** How many more threads of the process's pool uploads may take now. Set once, at the start. */
  set uploadThreads(count: number) {
    Atomics.store(this.#cells, UPLOAD_THREADS, BigInt(count));
  }

  /** Takes one of them; returns false if there is none. */
  takeUploadThread(): boolean {
    for (;;) {
      const free = Atomics.load(this.#cells, UPLOAD_THREADS);
      if (free === 0n) return false;
      if (Atomics.compareExchange(this.#cells, UPLOAD_THREADS, free, free - 1n) === free)
        return true;
    }
  }

  releaseUploadThread(): void {
    Atomics.add(this.#cells, UPLOAD_THREADS, 1n);
    Atomics.notify(this.#cells, UPLOAD_THREADS, 1);
  }

  /** Resolves when one was released, if there is none. Does not keep the process alive. */
  async uploadThreadReleased(): Promise<void> {
    await Atomics.waitAsync(this.#cells, UPLOAD_THREADS, 0n).value;
  }

  /** By how many ms the clock of entries is ahead of `Date.now()`. Set by the writer only. */
  get clockAhead(): number {
    return Number(Atomics.load(this.#cells, CLOCK_AHEAD));
  }
  set clockAhead(ms: number) {
    Atomics.store(this.#cells, CLOCK_AHEAD, BigInt(ms));
  }

  /** The newest durable seq. Set by the writer only. */
  get head(): number {
    return Number(Atomics.load(this.#cells, HEAD));
  }
  set head(seq: number) {
    Atomics.store(this.#cells, HEAD, BigInt(seq));
    Atomics.notify(this.#cells, HEAD);
  }

  /** Resolves when the head is not `head`, or on `wakeWaiters`. Does not keep the process alive. */
  async headMoved(head: number): Promise<void> {
    await Atomics.waitAsync(this.#cells, HEAD, BigInt(head)).value;
  }

  /** Resolves every pending `headMoved`, although the head has not moved. */
  wakeWaiters(): void {
    Atomics.notify(this.#cells, HEAD);
  }

  /** The newest seq in the segments. Set by their thread only. */
  get indexed(): number {
    return Number(Atomics.load(this.#cells, INDEXED));
  }
  set indexed(seq: number) {
    Atomics.store(this.#cells, INDEXED, BigInt(seq));
  }

  /** Whether the last attempt to store succeeded. Set by the writer only. */
  get writable(): boolean {
    return Atomics.load(this.#cells, READ_ONLY) === 0n;
  }
  set writable(value: boolean) {
    Atomics.store(this.#cells, READ_ONLY, value ? 0n : 1n);
  }

  /** Whether the stream of a cluster takes no messages now. Set by the stream's thread only. */
  get streamHolding(): boolean {
    return this.#number(STREAM_HOLDING) === 1;
  }
  set streamHolding(value: boolean) {
    this.#setNumber(STREAM_HOLDING, value ? 1 : 0);
  }

  /** How many messages of its stream the copy of a cluster lacks, as far as it knows. Set by the stream's thread only. */
  get messagesBehind(): number {
    return this.#number(MESSAGES_BEHIND);
  }
  set messagesBehind(count: number) {
    this.#setNumber(MESSAGES_BEHIND, count);
  }

  /** When that copy last had all that its stream had, in ms since 1970. Set by the stream's thread only. */
  get completeAt(): number {
    return this.#number(COMPLETE_AT);
  }
  set completeAt(time: number) {
    this.#setNumber(COMPLETE_AT, time);
  }

  /** Changes whenever an entry becomes unreadable, or readable again. Set by the segments' thread only. */
  get damageVersion(): number {
    return Number(Atomics.load(this.#cells, DAMAGE));
  }
  set damageVersion(version: number) {
    Atomics.store(this.#cells, DAMAGE, BigInt(version));
  }

  /** The newest withholding that readers know of: nothing that is derived has its entry any more. */
  get withheld(): number {
    return this.#number(WITHHELD);
  }
  set withheld(number: number) {
    this.#setNumber(WITHHELD, number);
  }

  /** The newest withholding in the log. Set by the writer only, as the one before. */
  get withheldInLog(): number {
    return this.#number(WITHHELD_IN_LOG);
  }
  set withheldInLog(number: number) {
    this.#setNumber(WITHHELD_IN_LOG, number);
  }

  /** Entries up to this withholding were removed from the segments. Set by their thread. */
  get derivedWithheld(): number {
    return this.#number(DERIVED_WITHHELD);
  }
  set derivedWithheld(number: number) {
    this.#setNumber(DERIVED_WITHHELD, number);
  }

  /** Whether an idempotency key was found to be missing. Set by any thread; the writer sees to it. */
  get keysSpoiled(): boolean {
    return this.#number(KEYS_SPOILED) === 1;
  }
  set keysSpoiled(value: boolean) {
    this.#setNumber(KEYS_SPOILED, value ? 1 : 0);
  }

  /** Whether entries cannot be indexed now. Set by the segments' thread only. */
  get searchFailing(): boolean {
    return this.#number(SEARCH_FAILING) === 1;
  }
  set searchFailing(value: boolean) {
    this.#setNumber(SEARCH_FAILING, value ? 1 : 0);
  }

  /** Whether there are threads that follow the log. Set once, at the start. */
  get hasIndexes(): boolean {
    return this.#number(HAS_INDEXES) === 1;
  }
  set hasIndexes(value: boolean) {
    this.#setNumber(HAS_INDEXES, value ? 1 : 0);
  }

  #number(cell: number): number {
    return Number(Atomics.load(this.#cells, cell));
  }

  #setNumber(cell: number, value: number): void {
    Atomics.store(this.#cells, cell, BigInt(value));
  }
}

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
