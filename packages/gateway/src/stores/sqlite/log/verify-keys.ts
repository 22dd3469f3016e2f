/** Compares `keys.sqlite` with the entries, in both directions. */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { openForReading, readable } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { RowReader, type SeqSpan } from './row-reader.ts';
import type { LogFault } from './chain-verifier.ts';
import { isKeyRow, keyedEntries, keySum, keysUntil, prefixOf, UNTIL } from '../writer/keys.ts';

const PAGE_SEQS = 4096;

/** Yields the faults of each page. A key that is not added yet is no fault. Throws if the file cannot be read. */
export function* verifyKeys(
  log: DatabaseSync,
  paths: DataPaths,
  head: Seq,
): Generator<readonly LogFault[]> {
  if (!existsSync(paths.keys)) return;
  using db = openForReading(paths.keys);
  const until = Math.min(head, keysUntil(db, new RowReader(log)));
  for (let at = 0; at < until; at += PAGE_SEQS)
    yield unfoundKeys(log, db, { from: at + 1, to: Math.min(until, at + PAGE_SEQS) });
  const keyed = keyedEntries(log);
  const exists = log.prepare('SELECT 1 FROM entries WHERE seq = ?');
  const page = db.prepare(`SELECT prefix, seq, sum FROM keys WHERE (prefix, seq) > (?, ?)
    AND prefix <> ${UNTIL} ORDER BY prefix, seq LIMIT ${PAGE_SEQS}`);
  for (let rows = page.all(-1, 0); rows.length > 0;) {
    yield rows.flatMap((row): LogFault[] => {
      const [prefix = 0, seq = 0, sum] = ['prefix', 'seq', 'sum'].map((name) => Number(row[name]));
      if (!isKeyRow(prefix, seq, sum)) return [{ seq: undefined, description: CHANGED }];
      // It was committed after its entry.
      if (keyed({ from: seq, to: seq }).some(({ key }) => prefixOf(key) === prefix)) return [];
      const isThere = readable(() => exists.get(seq) !== undefined);
      // An entry that cannot be read is reported by itself.
      return isThere === undefined ? [] : [{ seq, description: isThere ? WRONG : LOST }];
    });
    const last = rows.at(-1);
    rows = page.all(Number(last?.['prefix']), Number(last?.['seq']));
  }
}

const CHANGED = 'a row of keys.sqlite is not what was stored';
const LOST = 'has an idempotency key, but is not there';
const WRONG = 'is found by an idempotency key that is not its own';
const UNFOUND = 'is not found by its idempotency key';

/** Entries in the span that are not found by their key, except unreadable ones. */
function unfoundKeys(log: DatabaseSync, keys: DatabaseSync, span: SeqSpan): LogFault[] {
  const find = keys.prepare('SELECT 1 FROM keys WHERE prefix = ? AND seq = ? AND sum = ?');
  return keyedEntries(log)(span).flatMap(({ seq, key }) => {
    const prefix = prefixOf(key);
    const isFound = find.get(prefix, seq, keySum(prefix, seq)) !== undefined;
    return isFound ? [] : [{ seq, description: UNFOUND }];
  });
}
