/**
 * Puts right what the entries of a log themselves say: the idempotency keys; and puts back
 * what is not what was stored: the files of large entries from a copy of the data folder, and entries
 * from whoever else has the log. Bytes are taken only if they are those that the entry's link was made
 * of, and take the place of others at once. A gateway may run meanwhile. Nothing else is changed.
 */
import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Seq } from '../../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { isSpoiled, removeDatabase } from '../database.ts';
import { openRegular } from '../plain-file.ts';
import { RowReader } from '../log/row-reader.ts';
import { EntryVerifier } from '../log/entry-verifier.ts';
import { isFileFault, filesOf, finalPath } from '../large/large-files.ts';
import { openLogForReading } from '../log/log-database.ts';
import { repairEntries, type RepairEvent, type RepairSource } from './repair-entries.ts';
import { replaceFile } from './replace-file.ts';
import { verifyKeys } from './verify-keys.ts';
import { withheldLookup } from '../withholding/withheld-table.ts';

export interface RepairOptions {
  /** A copy of the data folder, for the files of large entries. */
  readonly folder?: string | undefined;
  /** For other entries, and without a folder for those too. */
  readonly source?: RepairSource | undefined;
}

/**
 * Yields every entry that was not found by its key, and, with a folder or a source, every entry that
 * was not what was stored, once it was put back or could not be. Throws when `data` has no log that
 * this program can read, and when it cannot be written.
 */
export async function* repairLog(
  data: string,
  { folder, source }: RepairOptions = {},
): AsyncGenerator<RepairEvent> {
  const paths = dataPathsIn(data);
  /** Large entries of which the folder had the files, or should have had. */
  const seen = new Set<Seq>();
  if (folder !== undefined) yield* repairFiles(paths, folder, seen);
  if (source !== undefined) yield* repairEntries(paths, source, seen);
  yield* repairKeys(paths);
}

/** The gateway makes the file again, at once or at its next start. */
function* repairKeys(paths: DataPaths): Generator<RepairEvent> {
  using db = openLogForReading(paths);
  let isWrong = false;
  try {
    for (const faults of verifyKeys(db, paths, new RowReader(db).lastSeq()))
      for (const { seq, description: fault } of faults) {
        isWrong = true;
        yield { seq, fault, reason: undefined };
      }
  } catch (error) {
    if (!isSpoiled(error)) throw error;
    isWrong = true;
    yield { seq: undefined, fault: `keys.sqlite ${error.message}`, reason: undefined };
  }
  if (isWrong) removeDatabase(paths.keys);
}

async function* repairFiles(
  paths: DataPaths,
  from: string,
  seen: Set<Seq>,
): AsyncGenerator<RepairEvent> {
  const copy = dataPathsIn(from);
  const db = openLogForReading(paths);
  // Files alone may be what is left of the copy.
  using copyDb = existsSync(copy.log) ? openLogForReading(copy) : undefined;
  try {
    const log = new RowReader(db);
    const withheldThere = copyDb && withheldLookup(copyDb);
    const verifier = new EntryVerifier(log, paths);
    const copyVerifier = new EntryVerifier(log, copy);
    for (const { seq, large } of log.rows({ from: 1, to: log.lastSeq() })) {
      if (large === undefined) continue;
      const fault = await verifier.fault(seq);
      if (fault === undefined || withheldThere?.(seq) !== undefined) continue;
      seen.add(seq);
      const copyFault = await copyVerifier.fault(seq);
      if (copyFault === undefined) await putBack(large, copy, paths);
      const reason = copyFault && `in "${from}" it ${copyFault}`;
      yield { seq, fault, reason };
    }
  } finally {
    db.close();
  }
}

/** The lists of facets beside the body are copied where they are missing. */
async function putBack(name: string, copy: DataPaths, paths: DataPaths): Promise<void> {
  for (const file of filesOf(name)) {
    const source = await existing(finalPath(copy, file), join(copy.incoming, file));
    const target = finalPath(paths, file);
    if (source === undefined) continue;
    if (file !== name && (await existing(target, join(paths.incoming, file)))) continue;
    await using handle = await openRegular(source);
    await replaceFile(target, handle.createReadStream(), () => true);
  }
}

async function existing(...candidates: readonly string[]): Promise<string | undefined> {
  for (const path of candidates) {
    try {
      if ((await lstat(path)).isFile()) return path;
    } catch (error) {
      if (!isFileFault(error)) throw error;
    }
  }
  return undefined;
}
