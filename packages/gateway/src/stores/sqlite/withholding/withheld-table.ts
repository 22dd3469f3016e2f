/** What was withheld cannot be derived. A row is written before its entry is marked, or with it, and stays. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { WithheldRow } from '../log/entry-row.ts';

// The digest is what the link was made of (see `chain.ts`); empty if the entry could not be read. isErased: whether no file has anything left
// of what the visitor said.
export const WITHHELD_TABLE = `
  CREATE TABLE withheld (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    reason TEXT NOT NULL,
    digest BLOB NOT NULL,
    isErased INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX unerased ON withheld (number) WHERE isErased = 0`;

export type WithheldLookup = (seq: Seq) => WithheldRow | undefined;

export function withheldLookup(log: DatabaseSync): WithheldLookup {
  const find = log.prepare('SELECT time, reason, digest FROM withheld WHERE seq = ?');
  return (seq) => find.get(seq) as WithheldRow | undefined;
}

// The next number. An entry that came withheld before its withholding has a negative one, until that comes.
const NEXT = 'max(coalesce(max(number), 0), 0) + 1';

/** Adds a row, within the caller's transaction. Numbers have no gaps. */
export function withheldInserter(
  log: DatabaseSync,
): (seq: Seq, row: WithheldRow, isErased: boolean) => void {
  const insert = log.prepare(`INSERT INTO withheld SELECT ${NEXT}, ?, ?, ?, ?, ? FROM withheld`);
  return (seq, { time, reason, digest }, isErased) =>
    void insert.run(seq, time, reason, digest, isErased ? 1 : 0);
}

/** For an entry that comes erased, before its withholding has come: `numberWithheld` lists it then. */
export function insertWithheldEarly(log: DatabaseSync, seq: Seq, row: WithheldRow): void {
  const { time, reason, digest } = row;
  const insert = log.prepare('INSERT INTO withheld VALUES (?, ?, ?, ?, ?, 1)');
  insert.run(-seq, seq, time, reason, digest);
}

/** Within the caller's transaction. Does nothing for an entry that has its number. */
export function numberWithheld(log: DatabaseSync, seq: Seq): void {
  log
    .prepare(
      `UPDATE withheld SET number = (SELECT ${NEXT} FROM withheld) WHERE seq = ? AND number < 0`,
    )
    .run(seq);
}

/** Lists as withheld also those entries whose withholding has not come, for a log to which none will come. */
export function numberAllWithheld(log: DatabaseSync): void {
  const early = log.prepare('SELECT seq FROM withheld WHERE number < 0 ORDER BY seq').all();
  for (const { seq } of early) numberWithheld(log, Number(seq));
}

/** The number of the newest withholding, 0 if there is none. */
export function lastWithheld(log: DatabaseSync): number {
  const row = log.prepare('SELECT max(coalesce(max(number), 0), 0) AS number FROM withheld').get();
  return Number(row?.['number']);
}

/** The seqs of what is not erased yet, in the order of the table; the first of them if there is a limit. */
export function unerased(log: DatabaseSync, limit = -1): Seq[] {
  const rows = log
    .prepare('SELECT seq FROM withheld WHERE isErased = 0 ORDER BY number LIMIT ?')
    .all(limit);
  return rows.map(({ seq }) => Number(seq));
}

export interface WithheldItem {
  readonly seq: Seq;
  /** In ms since 1970. */
  readonly time: number;
  readonly reason: string;
  /** What its link was made of; empty if that is unknown, because the entry cannot be read. */
  readonly digest: Uint8Array;
}

/** Entries that are listed in one transaction. */
export const PART_SIZE = 1000;
const NAME = 'withholding-';
/** Digits, so that the parts are in the order of their names. */
const DIGITS = 9;

type StoredItem = Omit<WithheldItem, 'digest'> & { readonly digest: string };

/** Within the caller's transaction, while there are none. */
export function storeDecided(log: DatabaseSync, items: readonly WithheldItem[]): void {
  const insert = log.prepare('INSERT INTO meta VALUES (?, ?)');
  for (let part = 0; part * PART_SIZE < items.length; part += 1) {
    const some = items.slice(part * PART_SIZE, (part + 1) * PART_SIZE);
    const stored = some.map((item): StoredItem => {
      return { ...item, digest: Buffer.from(item.digest).toString('hex') };
    });
    insert.run(NAME + String(part).padStart(DIGITS, '0'), JSON.stringify(stored));
  }
}

/** Whether a part is left. Does not write. */
export function hasDecided(log: DatabaseSync): boolean {
  return log.prepare(`SELECT 1 FROM meta WHERE name GLOB '${NAME}*' LIMIT 1`).get() !== undefined;
}

/** How many parts are left. Does not write. */
export function countDecided(log: DatabaseSync): number {
  const select = `SELECT count(*) AS parts FROM meta WHERE name GLOB '${NAME}*'`;
  return Number(log.prepare(select).get()?.['parts']);
}

/** Removes the next part, within the caller's transaction, and returns it. */
export function takeDecided(log: DatabaseSync): readonly WithheldItem[] {
  const first = `SELECT name FROM meta WHERE name GLOB '${NAME}*' ORDER BY name LIMIT 1`;
  const row = log.prepare(`DELETE FROM meta WHERE name = (${first}) RETURNING value`).get();
  const stored = JSON.parse(String(row?.['value'] ?? '[]')) as readonly StoredItem[];
  return stored.map((item) => ({ ...item, digest: Buffer.from(item.digest, 'hex') }));
}
