/** Compares the table `keys` with the entries that it is derived from, in both directions. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { LogFault } from './chain-verifier.ts';
import { KEY_IN_COLUMN } from './key-column.ts';

const PAGE_SEQS = 4096;
const PAGE_KEYS = 1024;

export interface KeyFault extends LogFault {
  readonly seq: Seq;
  readonly key: Uint8Array;
  /** Whether the table lacks what the entry says, rather than has what no entry says. */
  readonly isMissing: boolean;
}

/** Yields the faults of each page: the caller may do something else in between. */
export function* verifyKeys(db: DatabaseSync, head: Seq): Generator<readonly KeyFault[]> {
  for (let at = 0; at < head; at += PAGE_SEQS)
    yield unfoundKeys(db, at, Math.min(head, at + PAGE_SEQS));
  yield* wrongKeys(db);
}

/** Puts right what the table says. Of two entries with one key, the first keeps it. */
export function repairKey(db: DatabaseSync, { key, seq, isMissing }: KeyFault): void {
  if (!isMissing) {
    db.prepare('DELETE FROM keys WHERE key = ? AND seq = ?').run(key, seq);
    return;
  }
  const isFirst = `SELECT 1 FROM entries WHERE seq = keys.seq AND seq < excluded.seq AND ${KEY_IN_COLUMN} = excluded.key`;
  db.prepare(
    `INSERT INTO keys VALUES (?, ?)
     ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE NOT EXISTS (${isFirst})`,
  ).run(key, seq);
}

/** Entries after `from` and up to `to` that are not found by their key. */
export function unfoundKeys(db: DatabaseSync, from: Seq, to: Seq): readonly KeyFault[] {
  const page = db.prepare(
    `SELECT e.seq AS seq, e.digest AS key, k.seq AS found
     FROM (SELECT seq, ${KEY_IN_COLUMN} AS digest FROM entries WHERE seq > ? AND seq <= ? AND key IS NOT NULL ORDER BY seq LIMIT -1) AS e
     LEFT JOIN keys AS k ON k.key = e.digest WHERE k.seq IS NOT e.seq`,
  );
  page.setReadBigInts(true);
  return page.all(from, to).map(({ seq, key, found }) => ({
    seq: Number(seq),
    key: key as Uint8Array,
    isMissing: true,
    description:
      found === null
        ? 'is not found by its idempotency key'
        : `has an idempotency key that leads to entry ${String(found)}`,
  }));
}

/** Keys that lead to an entry that has another, or is not there. */
function* wrongKeys(db: DatabaseSync): Generator<readonly KeyFault[]> {
  const page = db.prepare('SELECT key, seq FROM keys WHERE key > ? ORDER BY key LIMIT ?');
  page.setReadBigInts(true);
  const entry = db.prepare(`SELECT ${KEY_IN_COLUMN} AS key FROM entries WHERE seq = ?`);
  const describe = (key: Uint8Array, seq: bigint): string | undefined => {
    const row = entry.get(seq);
    if (row === undefined) return 'has an idempotency key, but is not there';
    const own = row['key'];
    const same = own instanceof Uint8Array && Buffer.compare(own, key) === 0;
    return same ? undefined : 'is found by an idempotency key that is not its own';
  };
  for (let at: Uint8Array = Buffer.alloc(0); ;) {
    const rows = page.all(at, PAGE_KEYS) as { key: Uint8Array; seq: bigint }[];
    yield rows.flatMap(({ key, seq }) => {
      const description = describe(key, seq);
      return description === undefined
        ? []
        : [{ seq: Number(seq), key, isMissing: false, description }];
    });
    const last = rows.at(-1);
    if (rows.length < PAGE_KEYS || last === undefined) return;
    at = last.key;
  }
}
