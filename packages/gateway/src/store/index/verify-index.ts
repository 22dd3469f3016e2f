/** Verifies the index: makes each part and each frame again from the log, and compares. Changes nothing. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import { crc32, zstdDecompressSync } from 'node:zlib';

import { assertStorageFault } from '../../storage-fault.ts';
import { dataPathsIn } from '../data-paths.ts';
import { openForReading, readMeta } from '../database.ts';
import { openLogForReading } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { SharedState } from '../shared-state.ts';
import { lastWithheld, unerased } from '../withholding/withheld-table.ts';
import { type Frame, FRAME_JOINER, inflated, LATER, seqsOf } from './frames.ts';
import { createIndex, type IndexState, readState, tableOf } from './index-database.ts';
import { IndexWriter, type IndexedLog } from './index-writer.ts';

export interface DerivedFault {
  readonly file: string;
  /** Completes a sentence that begins with the name of the file. */
  readonly description: string;
}

/** Words and facets that are compared in a turn. */
const STEP = 10_000;

/** A missing index is no fault. A gateway may run meanwhile. */
export async function* verifyDerived(
  folder: string,
): AsyncGenerator<DerivedFault, void, undefined> {
  const paths = dataPathsIn(folder);
  if (!existsSync(paths.index)) return;
  const file = basename(paths.index);
  using db = openLogForReading(paths);
  try {
    using index = openForReading(paths.index);
    const shared = new SharedState();
    const logId = String(readMeta(db, 'name'));
    const source = { paths, shared, log: new RowReader(db), logId };
    const state = readState(index);
    if (state?.log !== logId) {
      yield { file, description: 'is of another log or format' };
      return;
    }
    shared.partSize = state.partSize;
    const before = lastWithheld(db);
    // While entries are withheld, one of both may have them, and the other not.
    const isSettled = (): boolean => lastWithheld(db) === before && unerased(db, 0, 1).length === 0;
    for (let part = 0; shared.firstOf(part) <= state.position; part += 1) {
      if (!(await partDiffers(index, source, part)) || !isSettled()) continue;
      const [first, last] = [shared.firstOf(part), shared.lastOf(part)];
      const description = `has other words, filters or counts than the entries ${first} to ${last}`;
      yield { file, description };
    }
    const later = db.prepare(LATER);
    for (const row of index.prepare('SELECT * FROM frames ORDER BY first').iterate()) {
      await nextTick();
      const frame = row as unknown as StoredFrame;
      // It is not used.
      if (later.get(frame.first, frame.last, frame.known) !== undefined) continue;
      if (!frameDiffers(source, frame) || !isSettled()) continue;
      const description = `has another text than the entries ${frame.first} to ${frame.last}`;
      yield { file, description };
    }
  } catch (error) {
    assertStorageFault(error);
    yield { file, description: `cannot be read (${error.message})` };
  }
}

async function partDiffers(
  index: DatabaseSync,
  source: IndexedLog,
  part: number,
): Promise<boolean> {
  const { logId, shared } = source;
  // Until its end, this transaction reads the index as it is now.
  index.exec('BEGIN');
  try {
    const { position } = readState(index) as IndexState;
    using made = new DatabaseSync('');
    createIndex(made, logId, shared.partSize);
    made.prepare('UPDATE state SET position = ?').run(shared.firstOf(part) - 1);
    const writer = new IndexWriter(source, made);
    for (const last = Math.min(position, shared.lastOf(part)); writer.position < last;) {
      writer.add(last);
      await nextTick();
    }
    const table = tableOf(part);
    for (const db of [index, made])
      db.exec(`CREATE VIRTUAL TABLE temp.of_${table} USING fts5vocab(main, ${table}, instance)`);
    const counts = `SELECT kind, room, count, seq, time FROM counts WHERE part = ${part}`;
    const tokens = `SELECT term, doc, col, offset FROM temp.of_${table}`;
    return (await rowsDiffer(index, made, counts)) || (await rowsDiffer(index, made, tokens));
  } finally {
    index.exec('COMMIT');
  }
}

type StoredFrame = Frame & { readonly zstd: Uint8Array; readonly gzip: Uint8Array };

function frameDiffers({ log }: IndexedLog, frame: StoredFrame): boolean {
  const seqs = log.withheld.shown(seqsOf(log, frame));
  if (seqs.length !== frame.count) return true;
  const text = log.joinTexts(seqs.toReversed(), FRAME_JOINER);
  // What cannot be read is a fault of the log.
  if (text === undefined) return false;
  try {
    const found = [zstdDecompressSync(frame.zstd), inflated(frame.gzip)];
    return frame.crc !== crc32(text) || found.some((one) => !one.equals(text));
  } catch {
    return true;
  }
}

async function rowsDiffer(one: DatabaseSync, other: DatabaseSync, sql: string): Promise<boolean> {
  const [rows, wanted] = [one.prepare(sql).iterate(), other.prepare(sql).iterate()];
  for (let count = 1; ; count += 1) {
    const [row, expected] = [rows.next(), wanted.next()];
    if (row.done === true || expected.done === true) return row.done !== expected.done;
    for (const name in expected.value) if (row.value[name] !== expected.value[name]) return true;
    if (count % STEP === 0) await nextTick();
  }
}
