import { termText, type Term, type TermList } from '../log/text-query.ts';

const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/**
 * Different terms in the order in which they were added. A query may have millions: they are held as bytes, with
 * a hash table of their offsets. Both together take a few times the length of the query. The table has its final
 * size from the start: growing it would take long in one piece.
 */
export class TermSet {
  #bytes = Buffer.alloc(256);
  #length = 0;
  #count = 0;
  /** Open addressing: the offset after the start of a term, 0 where there is none. */
  readonly #slots: Uint32Array;

  /** At most `capacity` terms. */
  constructor(capacity: number) {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2((4 / 3) * capacity + 1)));
  }

  get list(): TermList {
    return { count: this.#count, bytes: this.#bytes.subarray(0, this.#length) };
  }

  add(term: Term): void {
    const start = this.#length;
    const end = this.#append(`${termText(term)}\n`);
    const slot = this.#slotOf(start, end);
    if (this.#slots[slot] !== 0) return;
    this.#slots[slot] = start + 1;
    this.#length = end;
    this.#count += 1;
  }

  /** Appends to the terms, and returns where they end. */
  #append(text: string): number {
    const end = this.#length + Buffer.byteLength(text);
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(2 * end);
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.write(text, this.#length);
    return end;
  }

  /** The slot of an equal term, or a free one. */
  #slotOf(start: number, end: number): number {
    const mask = this.#slots.length - 1;
    let hash = HASH_START;
    for (let at = start; at < end; at += 1) {
      hash = Math.imul(hash ^ (this.#bytes[at] ?? 0), HASH_FACTOR);
    }
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (; ; slot = (slot + 1) & mask) {
      const found = (this.#slots[slot] ?? 0) - 1;
      if (found === -1) return slot;
      // A newline ends each term, so none is the beginning of another.
      const other = found + end - start;
      if (this.#bytes.compare(this.#bytes, start, end, found, other) === 0) return slot;
    }
  }
}
