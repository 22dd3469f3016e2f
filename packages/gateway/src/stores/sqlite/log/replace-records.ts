/** Replaces entries in the blocks of a log, which otherwise never change. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, SpoiledEntry } from '../database.ts';
import { Block, BLOCK_HEADER_SIZE, writeBlockHeader } from './blocks.ts';
import { type StoredEntry, type NewRecord, recordSize, writeRecord } from './record.ts';
import { openLogForRepair } from './log-database.ts';
import type { WithheldRow } from './withheld-entry.ts';
import { withheldInserter } from './withheld-table.ts';

export interface Replacement {
  /** Of ascending seqs. */
  readonly records: ReadonlyMap<Seq, NewRecord>;
  /** What the table `withheld` is to have, of other entries too. The next start erases them. */
  readonly withheld: ReadonlyMap<Seq, WithheldRow>;
}

/** All or none. Returns why it cannot be done, if so. */
export function replaceRecords(
  paths: DataPaths,
  { records, withheld }: Replacement,
): string | undefined {
  const db = openLogForRepair(paths);
  try {
    db.exec('BEGIN IMMEDIATE');
    const done = new Set<Seq>();
    for (const seq of records.keys()) {
      if (done.has(seq)) continue;
      for (const written of rewriteBlock(db, seq, records)) done.add(written);
    }
    setWithheld(db, withheld);
    db.exec('COMMIT');
    return undefined;
  } catch (error) {
    if (!isSpoiled(error)) throw error;
    return `its block cannot be written (${error.message}): import the log anew`;
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.close();
  }
}

function setWithheld(db: DatabaseSync, rows: Replacement['withheld']): void {
  const insert = withheldInserter(db);
  const setDigest = db.prepare('UPDATE withheld SET digest = ? WHERE seq = ?');
  for (const [seq, row] of rows)
    if (setDigest.run(row.digest, seq).changes === 0) insert(seq, row, false);
}

/** The block that has the entry, or had it, or the one before. Returns the seqs that it has now. */
function rewriteBlock(
  db: DatabaseSync,
  seq: Seq,
  records: ReadonlyMap<Seq, NewRecord>,
): readonly Seq[] {
  const found = db
    .prepare('SELECT first, data FROM blocks WHERE first <= ? ORDER BY first DESC LIMIT 1')
    .get(seq);
  const block = found && blockOf(found);
  const following = db.prepare('SELECT min(first) AS first FROM blocks WHERE first > ?').get(seq);
  const end = Number(following?.['first'] ?? Number.POSITIVE_INFINITY);
  const first = Number(found?.['first'] ?? seq);
  const seqs: Seq[] = [];
  const contents: NewRecord[] = [];
  for (let at = first; at < end; at += 1) {
    const content = records.get(at) ?? storedRecord(block, at);
    if (content === undefined) break;
    seqs.push(at);
    contents.push(content);
  }
  if (!seqs.includes(seq)) throw new SpoiledEntry(`Entry ${seq} has no place.`);
  const sizes = contents.map(recordSize);
  const total = sizes.reduce((sum, size) => sum + size, BLOCK_HEADER_SIZE);
  const data = Buffer.alloc(total);
  let at = BLOCK_HEADER_SIZE;
  for (const [index, content] of contents.entries()) {
    const size = sizes[index] ?? 0;
    writeRecord(data, at, size, content);
    at += size;
  }
  writeBlockHeader(data, total, first);
  db.prepare('INSERT OR REPLACE INTO blocks VALUES (?, ?)').run(first, data);
  return seqs;
}

function blockOf(row: Record<string, unknown>): Block {
  const { buffer, byteOffset, length } = row['data'] as Uint8Array;
  return new Block(row['first'] as Seq, Buffer.from(buffer, byteOffset, length));
}

/** Undefined if the block ends before. Throws where it is spoiled. */
function storedRecord(block: Block | undefined, seq: Seq): NewRecord | undefined {
  const row = block?.stored(seq);
  return row && recordOf(row);
}

function recordOf(row: StoredEntry): NewRecord {
  const { time, kind, room, head, marked, link, salt, facets, portability, text } = row;
  const large =
    row.large === undefined ? undefined : { name: row.large, size: row.size - text.length };
  const key = row.key ?? row.keyHash;
  const fields = { time, kind, room, head, large, marked, link, salt, key, facets, portability };
  return { ...fields, text: [text], isWithheld: row.isWithheld };
}
