/**
 * Puts right what the entries of a log themselves say: the table of idempotency keys; and puts the
 * files of large entries back from a copy of the data folder. A file is taken only if its bytes are
 * those that the entry's link was made of, and takes the place of another at once. A gateway may run
 * meanwhile. Nothing else is changed.
 */
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { flushFolder } from '../prepare-folder.ts';
import { EntryVerifier } from './entry-verifier.ts';
import { isFileFault, filesOf, finalPath } from './large-files.ts';
import { openLogForReading, openLogForRepair } from './log-database.ts';
import { repairKey, verifyKeys } from './verify-keys.ts';

interface RepairEvent {
  readonly seq: Seq;
  /** What was wrong with the entry. */
  readonly fault: string;
  /** Why it could not be put back; undefined if it was. */
  readonly reason: string | undefined;
}

/**
 * Yields every entry that was not found by its key, and, with a copy, every large entry that was
 * found unreadable, once it was put back or could not be. Throws when `folder` has no log that this
 * program can read, and when a file cannot be written.
 */
export async function* repairLog(
  folder: string,
  from: string | undefined,
): AsyncGenerator<RepairEvent> {
  const paths = dataPathsIn(folder);
  yield* repairKeys(paths);
  if (from !== undefined) yield* repairFiles(paths, from);
}

/** Each in a transaction of its own, so that a running gateway waits for none. */
function* repairKeys(paths: DataPaths): Generator<RepairEvent> {
  const db = openLogForReading(paths);
  let writing: DatabaseSync | undefined;
  try {
    const head = db.prepare('SELECT max(seq) AS seq FROM entries').get()?.['seq'];
    for (const faults of verifyKeys(db, Number(head))) {
      for (const fault of faults) {
        writing ??= openLogForRepair(paths);
        repairKey(writing, fault);
        yield { seq: fault.seq, fault: fault.description, reason: undefined };
      }
    }
  } finally {
    writing?.close();
    db.close();
  }
}

async function* repairFiles(paths: DataPaths, from: string): AsyncGenerator<RepairEvent> {
  const copy = dataPathsIn(from);
  const db = openLogForReading(paths);
  try {
    const verifier = new EntryVerifier(db, paths);
    const copyVerifier = new EntryVerifier(db, copy);
    const next = db.prepare(
      'SELECT seq, large FROM entries WHERE large IS NOT NULL AND seq > ? ORDER BY seq LIMIT 1',
    );
    for (let row = next.get(0); row !== undefined; row = next.get(row['seq'] as Seq)) {
      const seq = row['seq'] as Seq;
      const fault = await verifier.fault(seq);
      if (fault === undefined) continue;
      const copyFault = await copyVerifier.fault(seq);
      if (copyFault === undefined) await putBack(row['large'] as string, copy, paths);
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
    await replaceFile(source, target);
  }
}

async function existing(...candidates: readonly string[]): Promise<string | undefined> {
  for (const path of candidates) {
    try {
      if ((await stat(path)).isFile()) return path;
    } catch (error) {
      if (!isFileFault(error)) throw error;
    }
  }
  return undefined;
}

/** The file is flushed before it has its name, and the folders after. */
async function replaceFile(source: string, target: string): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  const unfinished = `${target}.repair`;
  try {
    await copyFile(source, unfinished);
    await using handle = await open(unfinished, 'r+');
    await handle.sync();
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await rename(unfinished, target);
  for (const changed of [folder, dirname(folder)]) flushFolder(changed);
}
