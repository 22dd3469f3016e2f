import type { DatabaseSync } from 'node:sqlite';

import { yieldPeriodically } from '../../fair-turns.ts';
import type { Withholding, WithholdingRange } from '../../log/log.ts';
import type { RowReader } from '../log/row-reader.ts';
import { metadataOf } from '../log/entry-row.ts';
import { stateIn } from './withheld-table.ts';

const PAGE_SIZE = 256;
const HAS_EARLIER = "SELECT 1 FROM sqlite_schema WHERE name = 'withheld_before'";

/** Cases of withholding, a page at a time, without unreadable ones. `last`: the newest that may be read. */
export async function* readWithholdings(
  db: DatabaseSync,
  log: RowReader,
  { order, after = 0, before = Infinity, limit = Infinity }: WithholdingRange,
  last: number,
): AsyncGenerator<Withholding, void, undefined> {
  // A log that no gateway of this version has opened has no earlier cases.
  const hasEarlier = db.prepare(HAS_EARLIER).get() !== undefined;
  const tables = hasEarlier ? ['withheld', 'withheld_before'] : ['withheld'];
  const page = db.prepare(`${tables.map(casesIn).join(' UNION ALL ')}
    ORDER BY number ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ${PAGE_SIZE}`);
  const takeTurn = yieldPeriodically();
  let [low, high] = [after, Math.min(before, last + 1)];
  for (let left = limit; left > 0 && low < high;) {
    const rows = page.all(low, high);
    if (rows.length === 0) return;
    const found = log.storedRows(rows.map(({ seq }) => Number(seq)));
    const entries = new Map(found.map((entry) => [entry.seq, metadataOf(entry)]));
    for (const row of rows) {
      const number = Number(row['number']);
      if (order === 'newest') high = number;
      else low = number;
      const metadata = entries.get(Number(row['seq']));
      if (metadata === undefined) continue;
      if (left === 0) return;
      left -= 1;
      const [time, reason] = [Number(row['time']), String(row['reason'])];
      yield { number, metadata, time, reason, state: stateIn(row['isErased']) };
    }
    await takeTurn();
  }
}

function casesIn(table: string): string {
  return `SELECT number, seq, time, reason, isErased FROM ${table} WHERE number > ?1 AND number < ?2`;
}
