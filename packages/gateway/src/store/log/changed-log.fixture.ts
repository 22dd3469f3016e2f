/** Changes entries of a log as nobody is supposed to, so that tests can see it noticed. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import { RowReader } from './row-reader.ts';
import { type NewRow, RowWriter } from './row-writer.ts';

export type ChangeableEntry = { -readonly [Name in keyof NewRow]: NewRow[Name] } & {
  text: readonly [Buffer];
};

export function entryOf(db: DatabaseSync, seq: Seq): ChangeableEntry {
  const row = new RowReader(db).entry(seq);
  if (row === undefined) throw new Error(`There is no entry ${seq}.`);
  const { time, kind, room, facets, portability } = row;
  const key = row.key ?? row.keyHash;
  return {
    time,
    kind,
    room,
    portability,
    large: row.file,
    link: Buffer.from(row.link),
    salt: Buffer.from(row.salt),
    key: key && Buffer.from(key),
    facets: Buffer.from(facets),
    text: [Buffer.from(row.text)],
  };
}

/** The entries that are left in the map are those of the log then. */
export function changeEntries(
  db: DatabaseSync,
  change: (entries: Map<Seq, ChangeableEntry>) => void,
): void {
  const rows = new RowReader(db).rows({ from: 1, to: new RowReader(db).lastSeq() });
  const entries = new Map(Array.from(rows, ({ seq }) => [seq, entryOf(db, seq)]));
  change(entries);
  db.exec('BEGIN; DELETE FROM entries; DELETE FROM large');
  const writer = new RowWriter(db);
  for (const [seq, entry] of entries) writer.put(seq, entry);
  db.exec('COMMIT');
}

export function changeEntry(
  db: DatabaseSync,
  seq: Seq,
  change: (entry: ChangeableEntry) => Partial<ChangeableEntry>,
): void {
  changeEntries(db, (entries) => {
    const entry = entryOf(db, seq);
    entries.set(seq, { ...entry, ...change(entry) });
  });
}
