/** Stores entries as rows, within the caller's transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import { FACET_SIZE } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import { threadIn, withheldFacets } from '../../log/thread.ts';
import type { Portability } from '../../log/portability.ts';
import { readable } from '../database.ts';
import { flagsOf, type LargeFile, sumOf } from './entry-row.ts';
import type { RowReader } from './row-reader.ts';

export interface NewRow {
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  readonly large: Omit<LargeFile, 'facets'> | undefined;
  readonly link: Uint8Array;
  readonly salt: Uint8Array;
  /** The key column, or its SHA-256 where only that is known. */
  readonly key: Uint8Array | undefined;
  readonly facets: Uint8Array;
  readonly portability?: Portability;
  /** The pieces of the text, in order. For a withheld entry: the gateway's members and a brace. */
  readonly text: readonly Uint8Array[];
  readonly isWithheld?: boolean;
}

export class RowWriter {
  readonly #insert: StatementSync;
  readonly #insertLarge: StatementSync;
  /** Used again for each text. */
  #text: Buffer = Buffer.allocUnsafeSlow(64 * 1024);

  constructor(db: DatabaseSync) {
    const places = Array.from({ length: 11 }, () => '?').join();
    this.#insert = db.prepare(`INSERT OR REPLACE INTO entries VALUES (${places})`);
    this.#insertLarge = db.prepare('INSERT OR REPLACE INTO large VALUES (?, ?, ?, ?)');
  }

  /** Takes the place of the row that the entry has, if it has one. */
  put(seq: Seq, row: NewRow): void {
    const { time, kind, room, link, salt, key = null, facets, text } = row;
    const large = row.large && { ...row.large, facets: '' };
    const flags = flagsOf({ ...row, large });
    const sum = sumOf(flags, facets, large);
    const whole = this.#join(text);
    const kindIndex = KINDS.indexOf(kind);
    this.#insert.run(seq, time, kindIndex, room, flags, link, salt, key, facets, sum, whole);
    if (large !== undefined) this.#insertLarge.run(seq, large.name, large.size, large.facets);
  }

  #join(pieces: readonly Uint8Array[]): Buffer {
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size > this.#text.length) this.#text = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for (const piece of pieces) {
      this.#text.set(piece, at);
      at += piece.length;
    }
    return this.#text.subarray(0, size);
  }
}

// SQLite overwrites the row: what it puts there has the same size.
const ERASE = `UPDATE entries SET flags = ?, salt = zeroblob(16), facets = ?, sum = ?, text = ?
  WHERE seq = ?`;
// Erases every column: in a spoiled row it is unknown where the text is. The row stays malformed.
const ERASE_SPOILED = `UPDATE entries SET time = 0, kind = 0, room = '', flags = ?, link = x'',
  salt = x'', key = NULL, facets = zeroblob(ifnull(octet_length(facets), 0)), sum = x'',
  text = zeroblob(ifnull(octet_length(text), 0)) WHERE seq = ?`;

const WITHHELD_FLAGS = flagsOf({ large: undefined, isWithheld: true });
const BRACE = Buffer.from('}');

export function rowEraser(db: DatabaseSync, log: RowReader): (seq: Seq) => void {
  const erase = db.prepare(ERASE);
  const eraseSpoiled = db.prepare(ERASE_SPOILED);
  const removeFile = db.prepare('DELETE FROM large WHERE seq = ?');
  return (seq) => {
    const stored = readable(() => log.stored(seq));
    removeFile.run(seq);
    if (stored === undefined) {
      eraseSpoiled.run(WITHHELD_FLAGS, seq);
      return;
    }
    const { kind, room, head } = stored;
    const { storedFacets } = stored;
    const facets = resized(withheldFacets(kind, room, undefined), storedFacets.length);
    // Answers to it belong to its thread, although it is in none any more.
    if (threadIn(storedFacets) !== undefined)
      facets.set(storedFacets.subarray(-FACET_SIZE), facets.length - FACET_SIZE);
    const text = resized(Buffer.concat([stored.text.subarray(0, head), BRACE]), stored.text.length);
    const sum = sumOf(WITHHELD_FLAGS, facets, undefined);
    erase.run(WITHHELD_FLAGS, facets, sum, text, seq);
  };
}

function resized(bytes: Buffer, size: number): Buffer {
  return Buffer.concat([bytes], size);
}
