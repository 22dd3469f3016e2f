/**
 * The form of entries in `log.sqlite`. A block holds consecutive entries, so that storing or reading
 * many costs little more than one. It begins with its size, the seq of its first entry, and a check of
 * both. One record for each entry follows (see `record.ts`). Numbers are little-endian.
 */
import { seqOfId } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { isSpoiled, SpoiledEntry } from '../database.ts';
import {
  type EntryRow,
  hasForm,
  MIN_RECORD_SIZE,
  SIZE_SIZE,
  StoredEntry,
  textStart,
} from './record.ts';
import { WithheldEntry, type WithheldLookup } from './withheld-entry.ts';

const BLOCK_FIRST = 4;
const BLOCK_CHECK = 12;
export const BLOCK_HEADER_SIZE = 16;

const CHECK_OF_NOTHING = 0x4f50474c;

const ID_IN_TEXT = 7;
const ID_SIZE = 36;

/** Writes the header of a block that begins at 0 and ends at `size`. */
export function writeBlockHeader(target: Buffer, size: number, first: Seq): void {
  target.writeUInt32LE(size, 0);
  target.writeDoubleLE(first, BLOCK_FIRST);
  target.writeInt32LE(headerCheck(target, 0), BLOCK_CHECK);
}

function headerCheck(data: Buffer, at: number): number {
  return (
    data.readInt32LE(at) ^
    data.readInt32LE(at + BLOCK_FIRST) ^
    data.readInt32LE(at + BLOCK_FIRST + 4) ^
    CHECK_OF_NOTHING
  );
}

/** The seq of the first entry and the size of the block that begins at `at`; undefined where they have changed. */
function readBlockHeader(data: Buffer, at: number): { first: Seq; size: number } | undefined {
  if (data.length - at < BLOCK_HEADER_SIZE) return undefined;
  if (data.readInt32LE(at + BLOCK_CHECK) !== headerCheck(data, at)) return undefined;
  return { first: data.readDoubleLE(at + BLOCK_FIRST), size: data.readUInt32LE(at) };
}

/** A block as it was read. What it gives are views of it. */
export class Block {
  readonly first: Seq;
  readonly data: Buffer;
  /** Where each record begins; -1 where that is unknown, as it is of several spoiled ones in a row. */
  readonly #starts: number[] = [];

  readonly #withheld: WithheldLookup;

  /** `key`: where the table has it. `data`: with the header. */
  constructor(key: Seq, data: Buffer, withheld: WithheldLookup = () => undefined) {
    this.#withheld = withheld;
    this.first = readBlockHeader(data, 0)?.first ?? key;
    this.data = data;
    const end = this.#readForwards();
    if (end < data.length) this.#readBackwards(end);
  }

  /** The last seq that it is known to hold. */
  get last(): Seq {
    return this.first + this.#starts.length - 1;
  }

  /** Undefined if it does not hold the entry. Throws `SpoiledEntry` if that has lost its form. */
  entry(seq: Seq): EntryRow | undefined {
    const stored = this.stored(seq);
    if (stored?.isWithheld !== true) return stored;
    const withheld = this.#withheld(seq);
    if (withheld !== undefined) return new WithheldEntry(stored, withheld);
    throw new SpoiledEntry(`Entry ${seq} cannot be read: it is unknown when it was withheld.`);
  }

  /** The same as its record has it, although it may be withheld. */
  stored(seq: Seq): StoredEntry | undefined {
    const index = seq - this.first;
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const { data } = this;
    if (start < 0 || !hasForm(data, start, this.#starts[index + 1] ?? data.length))
      throw new SpoiledEntry(`Entry ${seq} cannot be read: its record has lost its form.`);
    return new StoredEntry(seq, data, start);
  }

  /**
   * Puts zeros in place of all that the visitor said. Where the record has lost its form, of all of it,
   * and of those beside it of which it is unknown where they begin.
   */
  erase(seq: Seq): void {
    try {
      this.stored(seq)?.erase();
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      const index = seq - this.first;
      const start = this.#starts.findLast((at, position) => position <= index && at >= 0) ?? 0;
      const end = this.#starts.find((at, position) => position > index && at >= 0);
      this.data.fill(0, start + SIZE_SIZE, (end ?? this.data.length) - SIZE_SIZE);
    }
  }

  /** Returns where a record begins that has not the size that it says, or the end. */
  #readForwards(): number {
    const { data } = this;
    let at = BLOCK_HEADER_SIZE;
    while (at + MIN_RECORD_SIZE <= data.length) {
      const size = data.readUInt32LE(at);
      const end = at + size;
      if (size < MIN_RECORD_SIZE || end > data.length) return at;
      if (data.readUInt32LE(end - 4) !== size) return at;
      this.#starts.push(at);
      at = end;
    }
    return at;
  }

  /** Finds the records behind those that are spoiled, of which the first begins at `spoiled`. */
  #readBackwards(spoiled: number): void {
    const { data } = this;
    const starts: number[] = [];
    for (let end = data.length; end - MIN_RECORD_SIZE >= spoiled;) {
      const size = data.readUInt32LE(end - 4);
      const start = end - size;
      if (size < MIN_RECORD_SIZE || start <= spoiled || data.readUInt32LE(start) !== size) break;
      starts.unshift(start);
      end = start;
    }
    const firstSeq = this.last + 1;
    const firstBehind = this.#seqOfFirst(starts);
    const count = firstBehind === undefined ? 1 : firstBehind - firstSeq;
    const maxCount = (data.length - spoiled) / MIN_RECORD_SIZE;
    this.#starts.push(spoiled);
    if (count < 1 || count > maxCount) return;
    for (let more = 1; more < count; more += 1) this.#starts.push(-1);
    this.#starts.push(...starts);
  }

  /** Of these records, from the first id that can be read. */
  #seqOfFirst(starts: readonly number[]): Seq | undefined {
    const { data } = this;
    for (const [index, start] of starts.entries()) {
      if (!hasForm(data, start, starts[index + 1] ?? data.length)) continue;
      const at = textStart(data, start) + ID_IN_TEXT;
      const seq = seqOfId(data.toString('latin1', at, at + ID_SIZE));
      if (seq !== undefined) return seq - index;
    }
    return undefined;
  }
}

/**
 * The blocks in what was read of several, one after another. Throws `SpoiledEntry` where a header has
 * changed: read them one by one then.
 */
export function* blocksIn(data: Buffer, withheld: WithheldLookup): Generator<Block> {
  for (let at = 0; at < data.length;) {
    const header = readBlockHeader(data, at);
    if (header === undefined || header.size > data.length - at)
      throw new SpoiledEntry('A block of entries has another header than was written.');
    yield new Block(header.first, data.subarray(at, (at += header.size)), withheld);
  }
}
