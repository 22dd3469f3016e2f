/**
 * What the threads of the store share without asking each other: the head, how far the index and
 * the words have come, and whether entries can be stored.
 */
const HEAD = 0;
const INDEXED = 1;
const READ_ONLY = 2;
const BEHIND = 3;
const SEARCHED = 4;

export class Shared {
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(5 * 8)) {
    this.memory = memory;
    this.#cells = new BigInt64Array(memory);
  }

  /** The newest durable seq. Set by the writer only. */
  get head(): number {
    return Number(Atomics.load(this.#cells, HEAD));
  }
  set head(seq: number) {
    Atomics.store(this.#cells, HEAD, BigInt(seq));
    Atomics.notify(this.#cells, HEAD);
  }

  /** Resolves when the head is another one than `head`, or at `stir`. Keeps no process alive. */
  async moved(head: number): Promise<void> {
    await Atomics.waitAsync(this.#cells, HEAD, BigInt(head)).value;
  }

  /** Lets those go that wait for the head. */
  stir(): void {
    Atomics.notify(this.#cells, HEAD);
  }

  /** The newest seq that the index has. Set by the indexer only. */
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

  /** Whether the index cannot follow now. Set by the indexer only. */
  get indexFails(): boolean {
    return Atomics.load(this.#cells, BEHIND) === 1n;
  }
  set indexFails(value: boolean) {
    Atomics.store(this.#cells, BEHIND, value ? 1n : 0n);
  }

  /** The newest seq whose words are known. Set by the thread of the words only. */
  get searched(): number {
    return Number(Atomics.load(this.#cells, SEARCHED));
  }
  set searched(seq: number) {
    Atomics.store(this.#cells, SEARCHED, BigInt(seq));
  }
}
