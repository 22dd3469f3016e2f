/**
 * What the threads of the store share through memory: the head, the watermarks of the index and of
 * search, whether entries can be stored, how far their clock is ahead, and how many threads of the
 * process's pool uploads may take.
 */
import type { StoredEncoding } from '../../log/log.ts';

const HEAD = 0;
const INDEXED = 1;
const READ_ONLY = 2;
const INDEX_FAILING = 3;
const SEARCHED = 4;
const DAMAGE = 5;
const SPOILED_RUN = 6;
const INDEX_SPOILED = 7;
const INDEX_GENERATION = 8;
const INDEX_CHECKED = 9;
const CLOCK_AHEAD = 10;
const UPLOAD_THREADS = 11;
const WANTED_ENCODINGS = 12;
const WITHHELD = 13;
const WITHHELD_IN_LOG = 14;
const INDEX_WITHHELD = 15;
const WORDS_WITHHELD = 16;
const HAS_INDEXES = 17;
const RUNS_VERSION = 18;
const STREAM_HOLDING = 19;
const MESSAGES_BEHIND = 20;
const COMPLETE_AT = 21;
const ENCODING_BITS: Readonly<Record<StoredEncoding, bigint>> = { zstd: 1n, gzip: 2n };

export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(22 * 8)) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory);
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

  /** The newest seq in the index. Set by the indexer only. */
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

  /** Whether the last attempt to index failed. Set by the indexer only. */
  get indexFailing(): boolean {
    return Atomics.load(this.#cells, INDEX_FAILING) === 1n;
  }
  set indexFailing(value: boolean) {
    Atomics.store(this.#cells, INDEX_FAILING, value ? 1n : 0n);
  }

  /** The newest seq in the full-text index. Set by its thread only. */
  get searched(): number {
    return Number(Atomics.load(this.#cells, SEARCHED));
  }
  set searched(seq: number) {
    Atomics.store(this.#cells, SEARCHED, BigInt(seq));
  }

  /** Changes whenever an entry becomes unreadable, or readable again. Set by the index's thread only. */
  get damageVersion(): number {
    return Number(Atomics.load(this.#cells, DAMAGE));
  }
  set damageVersion(version: number) {
    Atomics.store(this.#cells, DAMAGE, BigInt(version));
  }

  /** The last seq of a run whose bytes have changed, until the index's thread has seen to it, else 0. */
  get spoiledRun(): number {
    return Number(Atomics.load(this.#cells, SPOILED_RUN));
  }
  set spoiledRun(last: number) {
    Atomics.store(this.#cells, SPOILED_RUN, BigInt(last));
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

  /** Entries up to this withholding were removed from the index and the runs. Set by their thread. */
  get indexWithheld(): number {
    return this.#number(INDEX_WITHHELD);
  }
  set indexWithheld(number: number) {
    this.#setNumber(INDEX_WITHHELD, number);
  }

  /** The same for the full-text index. */
  get wordsWithheld(): number {
    return this.#number(WORDS_WITHHELD);
  }
  set wordsWithheld(number: number) {
    this.#setNumber(WORDS_WITHHELD, number);
  }

  /** Changes before and after bytes of runs are overwritten. Set by the index's thread only. */
  get runsVersion(): number {
    return this.#number(RUNS_VERSION);
  }
  set runsVersion(version: number) {
    this.#setNumber(RUNS_VERSION, version);
  }

  /** Whether there are threads that follow the log. Set once, at the start. */
  get hasIndexes(): boolean {
    return this.#number(HAS_INDEXES) === 1;
  }
  set hasIndexes(value: boolean) {
    this.#setNumber(HAS_INDEXES, value ? 1 : 0);
  }

  /** Has the index's thread compress the runs that are not there in this encoding. */
  wantEncoding(encoding: StoredEncoding): void {
    Atomics.or(this.#cells, WANTED_ENCODINGS, ENCODING_BITS[encoding]);
  }

  /** Whether a reader has missed runs in this encoding since this was called. */
  takeWantedEncoding(encoding: StoredEncoding): boolean {
    const bit = ENCODING_BITS[encoding];
    return (Atomics.and(this.#cells, WANTED_ENCODINGS, ~bit) & bit) !== 0n;
  }

  /** Whether the index was found to be spoiled. Set by any thread; the index's thread makes it again. */
  get indexSpoiled(): boolean {
    return Atomics.load(this.#cells, INDEX_SPOILED) === 1n;
  }
  set indexSpoiled(value: boolean) {
    Atomics.store(this.#cells, INDEX_SPOILED, value ? 1n : 0n);
  }

  /** Changes when the index is replaced by a new one. Set by the indexer only. */
  get indexGeneration(): number {
    return Number(Atomics.load(this.#cells, INDEX_GENERATION));
  }
  set indexGeneration(generation: number) {
    Atomics.store(this.#cells, INDEX_GENERATION, BigInt(generation));
  }

  /** The index was checked as a whole from this seq on since the start. Set by the indexer only. */
  get indexChecked(): number {
    return Number(Atomics.load(this.#cells, INDEX_CHECKED));
  }
  set indexChecked(seq: number) {
    Atomics.store(this.#cells, INDEX_CHECKED, BigInt(seq));
  }

  #number(cell: number): number {
    return Number(Atomics.load(this.#cells, cell));
  }

  #setNumber(cell: number, value: number): void {
    Atomics.store(this.#cells, cell, BigInt(value));
  }
}
