/** Stores entries as rows, within the caller's transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import type { Portability } from '../../../log/portability.ts';
import { flagsOf, type LargeFile, sumOf } from './entry-row.ts';

export interface NewRow {
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  readonly large: LargeFile | undefined;
  readonly marked: boolean;
  readonly link: Uint8Array;
  readonly salt: Uint8Array;
  /** The key column, or its SHA-256 where only that is known. */
  readonly key: Uint8Array | undefined;
  readonly facets: Uint8Array;
  readonly portability?: Portability;
  /** One after another they are the text. Of a withheld entry: the gateway's members and a brace. */
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
    const { time, kind, room, large, link, salt, key = null, facets, text } = row;
    const flags = flagsOf(row);
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
