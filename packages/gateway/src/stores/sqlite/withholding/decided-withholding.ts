/**
 * A withholding of many entries that is decided, but not in the table `withheld` yet. The commit that
 * decides it has little more than their digests. Further commits list them, and others append in between.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';

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
