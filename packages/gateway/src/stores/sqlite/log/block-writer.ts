/** Stores entries in blocks, within the caller's transaction. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { BLOCK_HEADER_SIZE, writeBlockHeader } from './blocks.ts';
import { type NewRecord, recordSize, writeRecord } from './record.ts';

/**
 * Bytes of a block, unless one entry has more: three fit into a page of SQLite. Readers of single entries
 * read whole blocks.
 */
const BLOCK_SIZE = 1330;

export class BlockWriter {
  readonly #insert: StatementSync;
  readonly #insertLarge: StatementSync;
  /** The block that is being filled. Used again for each. */
  #data: Buffer = Buffer.allocUnsafeSlow(64 * 1024);
  #used = BLOCK_HEADER_SIZE;
  #first: Seq = 0;
  #count = 0;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare('INSERT INTO blocks VALUES (?, ?)');
    this.#insertLarge = db.prepare('INSERT OR IGNORE INTO large VALUES (?, ?)');
  }

  /** Entries from this one on are not in the table yet; infinite if there are none. */
  get firstUnstored(): Seq {
    return this.#count === 0 ? Number.POSITIVE_INFINITY : this.#first;
  }

  add(seq: Seq, record: NewRecord): void {
    const size = recordSize(record);
    const isNext = this.#count > 0 && seq === this.#first + this.#count;
    if (!isNext || this.#used + size > BLOCK_SIZE) this.flush();
    if (this.#count === 0) this.#first = seq;
    if (this.#used + size > this.#data.length)
      this.#data = Buffer.allocUnsafeSlow(this.#used + size);
    writeRecord(this.#data, this.#used, size, record);
    this.#used += size;
    this.#count += 1;
    if (record.large !== undefined) this.#insertLarge.run(record.large.name, seq);
  }

  /** Puts what was added into the table. To be called before the end of the transaction. */
  flush(): void {
    if (this.#count === 0) return;
    writeBlockHeader(this.#data, this.#used, this.#first);
    this.#insert.run(this.#first, this.#data.subarray(0, this.#used));
    this.discard();
  }

  /** Forgets what is not in the table yet. */
  discard(): void {
    this.#used = BLOCK_HEADER_SIZE;
    this.#count = 0;
  }
}
