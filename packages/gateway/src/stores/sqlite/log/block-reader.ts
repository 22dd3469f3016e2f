/** Reads entries from the blocks of the log. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { portableText } from '../../../json/portable-entry.ts';
import type { Seq } from '../../../log/log.ts';
import { isSpoiled, SpoiledEntry } from '../database.ts';
import { Block, blocksIn } from './blocks.ts';
import { type EntryRow, stampOf, type StoredEntry } from './record.ts';
import type { WithheldLookup } from './withheld-entry.ts';
import { withheldLookup } from './withheld-table.ts';

/** Seqs of consecutive entries. */
export interface SeqSpan {
  /** Inclusive. */
  readonly from: Seq;
  /** Inclusive. */
  readonly to: Seq;
}

/** An entry of which the log has the place, but nothing that can be read. */
export interface SpoiledRow {
  readonly seq: Seq;
  readonly error: Error;
}

/** Bytes that are read at once, about, where there are many entries; and how many at first and at most. */
const WINDOW_SIZE = 256 * 1024;
const FIRST_WINDOW = 64;
const MAX_WINDOW = 1024;
/** Entries are read with those between them if these are at most so many times as many. */
const MAX_SPREAD = 4;
/** Blocks that are read at once, for an entry of each. */
const MAX_SCATTERED = 64;

// SQLite joins the blocks, which costs less than one call for each.
const JOINED = "SELECT CAST(group_concat(data, '') AS BLOB) AS data";

export class BlockReader {
  readonly #containing: StatementSync;
  readonly #newest: StatementSync;
  readonly #range: StatementSync;
  readonly #scattered: StatementSync;
  readonly #withheld: WithheldLookup;
  readonly #version: () => number;
  /** The block that was read last: the next entry is likely in it. */
  #block: Block | undefined;
  /** The version as of which it was read. */
  #blockVersion = -1;

  /** `version`: changes when entries were withheld. Stored blocks don't change otherwise. */
  constructor(log: DatabaseSync, version: () => number = () => 0) {
    this.#withheld = withheldLookup(log);
    this.#version = version;
    this.#containing = log.prepare(
      'SELECT first, data FROM blocks WHERE first <= ? ORDER BY first DESC LIMIT 1',
    );
    this.#newest = log.prepare('SELECT first, data FROM blocks ORDER BY first DESC LIMIT 1');
    this.#range = log.prepare(
      `${JOINED} FROM (SELECT data FROM blocks
         WHERE first BETWEEN coalesce((SELECT max(first) FROM blocks WHERE first <= ?1), ?1) AND ?2
         ORDER BY first LIMIT -1)`,
    );
    this.#scattered = log.prepare(
      `${JOINED} FROM (SELECT
         (SELECT data FROM blocks WHERE first <= value ORDER BY first DESC LIMIT 1) AS data
         FROM json_each(?))`,
    );
  }

  /** Undefined if the log has no such entry. Throws where it cannot be read (see `isSpoiled`). */
  entry(seq: Seq): EntryRow | undefined {
    return this.#blockWith(seq)?.entry(seq);
  }

  /** The same as its record has it, although it may be withheld. */
  stored(seq: Seq): StoredEntry | undefined {
    return this.#blockWith(seq)?.stored(seq);
  }

  /** The same; throws `SpoiledEntry` where what the visitor said is erased already. */
  unerased(seq: Seq): StoredEntry | undefined {
    const stored = this.stored(seq);
    if (stored?.isErased !== true) return stored;
    throw new SpoiledEntry(`Entry ${seq} cannot be read: it is erased.`);
  }

  /** The first entry in the block that has this one; undefined if none has. Throws where it cannot be read. */
  firstInBlock(seq: Seq): Seq | undefined {
    const block = this.#blockWith(seq);
    return block !== undefined && seq <= block.last ? block.first : undefined;
  }

  #blockWith(seq: Seq): Block | undefined {
    const version = this.#version();
    const isHeld = this.#block !== undefined && this.#blockVersion === version;
    if (!isHeld || seq < (this.#block?.first ?? 0) || seq > (this.#block?.last ?? 0)) {
      this.#block = undefined;
      this.#blockVersion = version;
      this.#block = this.#blockOf(this.#containing.get(seq));
    }
    return this.#block;
  }

  /** The newest entry. Throws where it cannot be read. */
  last(): EntryRow | undefined {
    const block = this.#blockOf(this.#newest.get());
    return block?.entry(block.last);
  }

  /** The seq of the newest entry; 0 if there is none. */
  lastSeq(): Seq {
    return this.#blockOf(this.#newest.get())?.last ?? 0;
  }

  /** In hex; undefined if the log has no such entry. Throws where it cannot be read. */
  linkAt(seq: Seq): string | undefined {
    return this.entry(seq)?.link.toString('hex');
  }

  /** Must be called when a transaction was rolled back. */
  forget(): void {
    this.#block = undefined;
  }

  /** Ascending. Leaves out what cannot be read. */
  *rows(span: SeqSpan): Generator<EntryRow, void, undefined> {
    for (const row of this.rowsAndSpoiled(span)) if (!('error' in row)) yield row;
  }

  /** Ascending. Between two rows, the caller may change the log. */
  *rowsAndSpoiled({ from, to }: SeqSpan): Generator<EntryRow | SpoiledRow, void, undefined> {
    let count = FIRST_WINDOW;
    for (let at = from; at <= to;) {
      const window = { from: at, to: Math.min(to, at + count - 1) };
      const blocks = this.#blocksOf(window);
      yield* blocks === undefined ? this.#rowsOneByOne(window) : rowsOf(blocks, window);
      const size = blocks?.reduce((sum, { data }) => sum + data.length, 0) ?? WINDOW_SIZE;
      const fitting = Math.floor((count * WINDOW_SIZE) / Math.max(size, 1));
      at = window.to + 1;
      count = Math.max(1, Math.min(MAX_WINDOW, fitting));
    }
  }

  /**
   * The texts of these entries in their portable form; undefined if they have to be read one by one, because one is large or
   * cannot be read. `seqs`: at least one, in ascending or descending order, which is that of the texts.
   */
  joinTexts(seqs: readonly Seq[], joiner: string): Buffer | undefined {
    const [first = 0] = seqs;
    const isDescending = (seqs.at(-1) ?? first) < first;
    const texts = this.#texts(isDescending ? seqs.toReversed() : seqs);
    if (texts === undefined) return undefined;
    return join(isDescending ? texts.toReversed() : texts, Buffer.from(joiner));
  }

  /**
   * Consecutive entries; undefined if they have to be read one by one, because one is large or cannot
   * be read.
   */
  smallRows({ from, to }: SeqSpan): EntryRow[] | undefined {
    const rows: EntryRow[] = [];
    for (const block of this.#blocksOf({ from, to }) ?? []) {
      const end = Math.min(block.last, to);
      for (let seq = Math.max(block.first, from); seq <= end; seq += 1) {
        const row = rowOrSpoiled(seq, () => block.entry(seq));
        if (row === undefined || 'error' in row || row.large !== undefined) return undefined;
        rows.push(row);
      }
    }
    return rows.length > to - from ? rows : undefined;
  }

  /** `seqs`: ascending. */
  #texts(seqs: readonly Seq[]): Buffer[] | undefined {
    const [from = 0] = seqs;
    const to = seqs.at(-1) ?? from;
    if (to - from < seqs.length * MAX_SPREAD) {
      const blocks = this.#blocksOf({ from, to });
      return blocks && textsOf(blocks, seqs);
    }
    const texts: Buffer[] = [];
    for (let at = 0; at < seqs.length; at += MAX_SCATTERED) {
      const some = seqs.slice(at, at + MAX_SCATTERED);
      const blocks = this.#read(() => this.#scattered.get(JSON.stringify(some)));
      const found = blocks && textsOf(blocks, some);
      if (found === undefined) return undefined;
      for (const text of found) texts.push(text);
    }
    return texts;
  }

  /** Undefined where some of the entries are missing, or it is unknown where they are. */
  #blocksOf({ from, to }: SeqSpan): Block[] | undefined {
    const blocks = this.#read(() => this.#range.get(from, to));
    let next = from;
    for (const { first, last } of blocks ?? []) {
      if (first > next || last < next) return undefined;
      next = last + 1;
    }
    return next > to ? blocks : undefined;
  }

  /** Undefined where a page of the log or the header of a block is spoiled. */
  #read(query: () => Record<string, unknown> | undefined): Block[] | undefined {
    try {
      const data = query()?.['data'];
      return data instanceof Uint8Array ? [...blocksIn(bufferOf(data), this.#withheld)] : [];
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }

  #blockOf(row: Record<string, unknown> | undefined): Block | undefined {
    if (row === undefined) return undefined;
    const data = bufferOf(row['data'] as Uint8Array);
    return new Block(row['first'] as Seq, data, this.#withheld);
  }

  *#rowsOneByOne({ from, to }: SeqSpan): Generator<EntryRow | SpoiledRow> {
    for (let seq = from; seq <= to; seq += 1) {
      const row = rowOrSpoiled(seq, () => this.entry(seq));
      if (row !== undefined) yield row;
    }
  }
}

function* rowsOf(blocks: readonly Block[], span: SeqSpan): Generator<EntryRow | SpoiledRow> {
  for (const block of blocks) {
    const end = Math.min(block.last, span.to);
    for (let seq = Math.max(block.first, span.from); seq <= end; seq += 1) {
      const row = rowOrSpoiled(seq, () => block.entry(seq));
      if (row !== undefined) yield row;
    }
  }
}

function rowOrSpoiled(
  seq: Seq,
  read: () => EntryRow | undefined,
): EntryRow | SpoiledRow | undefined {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error)) return { seq, error };
    throw error;
  }
}

/** `seqs` and blocks: ascending; blocks may be there several times. */
function textsOf(blocks: readonly Block[], seqs: readonly Seq[]): Buffer[] | undefined {
  const texts: Buffer[] = [];
  let index = 0;
  for (const seq of seqs) {
    while (seq > (blocks[index]?.last ?? seq)) index += 1;
    const row = rowOrSpoiled(seq, () => blocks[index]?.entry(seq));
    if (row === undefined || 'error' in row || row.large !== undefined) return undefined;
    texts.push(portableTextOf(row));
  }
  return texts;
}

function portableTextOf(row: EntryRow): Buffer {
  const { portability, text } = row;
  return portability === 'exact' ? text : portableText(text, { portability, stamp: stampOf(row) });
}

function join(texts: readonly Buffer[], joiner: Buffer): Buffer {
  const size = texts.reduce((sum, { length }) => sum + length + joiner.length, -joiner.length);
  const joined = Buffer.allocUnsafe(size);
  let at = 0;
  for (const text of texts) {
    if (at > 0) {
      joined.set(joiner, at);
      at += joiner.length;
    }
    joined.set(text, at);
    at += text.length;
  }
  return joined;
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
