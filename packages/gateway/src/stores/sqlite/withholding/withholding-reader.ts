import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Order, Withholding, WithholdingRange } from '../../../log/log.ts';
import { readable } from '../database.ts';
import type { RowReader } from '../log/row-reader.ts';
import { metadataOf } from '../log/entry-row.ts';

const PAGE_SIZE = 256;

/** Reads what was withheld, a page at a time. Leaves out where the entry cannot be read. */
export class WithholdingReader {
  readonly #pages: Readonly<Record<Order, StatementSync>>;
  readonly #log: RowReader;

  constructor(db: DatabaseSync, log: RowReader) {
    this.#log = log;
    const page = (direction: 'ASC' | 'DESC'): StatementSync =>
      db.prepare(`SELECT number, seq, time, reason FROM withheld
        WHERE number > ? AND number < ? ORDER BY number ${direction} LIMIT ${PAGE_SIZE}`);
    this.#pages = { oldest: page('ASC'), newest: page('DESC') };
  }

  /** `last`: the newest that may be read. */
  async *read(
    { order, after = 0, before = Number.POSITIVE_INFINITY, limit = Infinity }: WithholdingRange,
    last: number,
  ): AsyncGenerator<Withholding, void, undefined> {
    const takeTurn = yieldPeriodically();
    let [low, high] = [after, Math.min(before, last + 1)];
    for (let left = limit; left > 0 && low < high;) {
      const rows = this.#pages[order].all(low, high);
      if (rows.length === 0) return;
      for (const row of rows) {
        const number = Number(row['number']);
        if (order === 'newest') high = number;
        else low = number;
        const entry = readable(() => this.#log.entry(Number(row['seq'])));
        if (entry === undefined) continue;
        if (left === 0) return;
        left -= 1;
        const [time, reason] = [Number(row['time']), String(row['reason'])];
        yield { number, metadata: metadataOf(entry), time, reason };
      }
      await takeTurn();
    }
  }
}
