/** What the threads of the store share through memory. */

import type { Seq } from '../log/log.ts';

/** In cells that have no other use. */
const NUMBERS = [
  'indexed',
  'indexVersion',
  'newestTime',
  'withheld',
  'withheldInLog',
  'derivedWithheld',
  'derivedErased',
  'messagesBehind',
  'missingServers',
  'completeAt',
  'readOnly',
] as const;
const SWITCHES = ['streamHolding', 'searchFailing', 'hasIndexes'] as const;
const HEAD = NUMBERS.length + SWITCHES.length;
const READ_ONLY = HEAD + 1;
const UPLOAD_THREADS = HEAD + 2;
const PART_SIZE = HEAD + 3;
const SIZE = 8 * (HEAD + 4);

const SEQS_OF_PART = 2 ** 18;

export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  /** The newest seq in the index. Set by its thread only, as the next one. */
  declare indexed: number;
  /** Changes when another file takes the place of the index; 0 before there is one. */
  declare indexVersion: number;
  /** The time of the newest entry. Only the writer sets it. */
  declare newestTime: number;
  /** The newest withholding that readers know: counts and searches know it too. */
  declare withheld: number;
  /** The newest withholding in the log. Set by the writer only, as the one before. */
  declare withheldInLog: number;
  /** The index leaves out, or has again, entries up to this case. Set by its thread, as the next one. */
  declare derivedWithheld: number;
  /** The index has no text of what was withheld up to this case. */
  declare derivedErased: number;
  /** How many messages of its stream a cluster's copy lacks. Only the stream's thread sets this and the next ones. */
  declare messagesBehind: number;
  /** How many servers of the stream do not have all of it, as far as is known. */
  declare missingServers: number;
  /** When that copy last had all that its stream had, in ms since 1970. */
  declare completeAt: number;
  /** Changes when the owner stops storing, or gives another reason. 0 while entries are stored. */
  declare readOnly: number;
  /** Whether the stream of a cluster takes no messages now. */
  declare streamHolding: boolean;
  /** Whether entries cannot be indexed now. Set by the index's thread only. */
  declare searchFailing: boolean;
  /** Whether there are threads that follow the log. Set once, at the start. */
  declare hasIndexes: boolean;

  static {
    for (const [cell, name] of NUMBERS.entries())
      Object.defineProperty(this.prototype, name, {
        get(this: SharedState): number {
          return this.#get(cell);
        },
        set(this: SharedState, value: number) {
          this.#set(cell, value);
        },
      });
    for (const [index, name] of SWITCHES.entries())
      Object.defineProperty(this.prototype, name, {
        get(this: SharedState): boolean {
          return this.#get(NUMBERS.length + index) === 1;
        },
        set(this: SharedState, value: boolean) {
          this.#set(NUMBERS.length + index, Number(value));
        },
      });
  }

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SIZE)) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory);
  }

  /** The newest durable seq. Set by the writer only. */
  get head(): number {
    return this.#get(HEAD);
  }

  set head(seq: number) {
    this.#set(HEAD, seq);
    this.wakeWaiters();
  }

  /** Resolves when the head is not `head`, or on `wakeWaiters`. Does not keep the process alive. */
  async headMoved(head: number): Promise<void> {
    await Atomics.waitAsync(this.#cells, HEAD, BigInt(head)).value;
  }

  /** Resolves every pending `headMoved`, although the head has not moved. */
  wakeWaiters(): void {
    Atomics.notify(this.#cells, HEAD);
  }

  /** Whether the last attempt to store succeeded. Set by the writer only. */
  get writable(): boolean {
    return this.#get(READ_ONLY) === 0;
  }

  set writable(value: boolean) {
    this.#set(READ_ONLY, Number(!value));
  }

  /** Seqs of a part of the index. Set once, before there are readers. */
  get partSize(): number {
    return this.#get(PART_SIZE) || SEQS_OF_PART;
  }

  set partSize(seqs: number) {
    this.#set(PART_SIZE, seqs);
  }

  partOf(seq: Seq): number {
    return Math.floor((seq - 1) / this.partSize);
  }

  firstOf(part: number): Seq {
    return part * this.partSize + 1;
  }

  lastOf(part: number): Seq {
    return (part + 1) * this.partSize;
  }

  /** How many more threads of the process's pool uploads may take now. Set once, at the start. */
  set uploadThreads(count: number) {
    this.#set(UPLOAD_THREADS, count);
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

  #get(cell: number): number {
    return Number(Atomics.load(this.#cells, cell));
  }

  #set(cell: number, value: number): void {
    Atomics.store(this.#cells, cell, BigInt(value));
  }
}

/** Calls back in this thread when the head moves or entries were withheld. Waits only while there are callbacks. */
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
