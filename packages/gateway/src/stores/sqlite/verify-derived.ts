/**
 * Verifies the files that are derived from a log: `index.sqlite`, `runs/` and `search.sqlite`. What
 * it finds is lost to nobody, since a gateway finds it too, and makes the file again from the log.
 *
 * Changes nothing. A gateway may run meanwhile.
 */
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault } from '../../storage-fault.ts';
import { type DataPaths, dataPathsIn } from './data-paths.ts';
import { formatFault, openForReading } from './database.ts';
import { INDEX_FORMAT } from './index/index-database.ts';
import { type DerivedFault, indexFaults } from './index/verify-index.ts';
import { changedPages } from './words/page-sums.ts';
import { WORDS_FORMAT } from './words/words-database.ts';

interface DerivedFile {
  readonly file: string;
  readonly format: number;
  readonly logId: string;
  readonly faultsIn: (db: DatabaseSync) => Iterable<DerivedFault | undefined>;
}

/**
 * Yields what has changed as it is found, with paths relative to the folder. `logId`: the name of the
 * log. Files that are not there yet are no fault.
 */
export async function* verifyDerived(
  folder: string,
  logId: string,
): AsyncGenerator<DerivedFault, void, undefined> {
  const paths = dataPathsIn(folder);
  const files: readonly DerivedFile[] = [
    { file: paths.index, format: INDEX_FORMAT, logId, faultsIn: (db) => allIndexFaults(db, paths) },
    {
      file: paths.search,
      format: WORDS_FORMAT,
      logId,
      faultsIn: (db) => wordFaults(db, paths.search),
    },
  ];
  for (const derived of files)
    for await (const { file, description } of verifyFile(derived))
      yield { file: relative(folder, file), description };
}

async function* verifyFile(derived: DerivedFile): AsyncGenerator<DerivedFault, void, undefined> {
  const { file } = derived;
  const inode = inodeOf(file);
  if (inode === undefined) return;
  let db: DatabaseSync | undefined;
  try {
    db = openForReading(file);
    for (const fault of faultsOf(db, derived)) {
      await nextTick();
      if (fault === undefined) continue;
      if (inodeOf(file) !== inode) {
        yield {
          file,
          description: 'was made again meanwhile by the gateway, and was not verified',
        };
        return;
      }
      yield fault;
    }
  } catch (error) {
    assertStorageFault(error);
    yield { file, description: `cannot be read (${error.message})` };
  } finally {
    db?.close();
  }
}

function* faultsOf(
  db: DatabaseSync,
  derived: DerivedFile,
): Generator<DerivedFault | undefined, void, undefined> {
  const { file, faultsIn } = derived;
  const description = formatFault(db, derived);
  if (description !== undefined) {
    yield { file, description };
    return;
  }
  yield* faultsIn(db);
}

function* allIndexFaults(
  db: DatabaseSync,
  paths: DataPaths,
): Generator<DerivedFault | undefined, void, undefined> {
  yield formFault(db, paths.index);
  yield* indexFaults(db, paths);
}

/** Whether the database has kept its form; for FTS5, that includes the check of its tables. */
function formFault(db: DatabaseSync, file: string): DerivedFault | undefined {
  const found = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  if (found === 'ok') return undefined;
  return { file, description: `is spoiled (${found.replaceAll(/\s+/g, ' ')})` };
}

function* wordFaults(
  db: DatabaseSync,
  file: string,
): Generator<DerivedFault | undefined, void, undefined> {
  for (const page of changedPages(file)) {
    if (page === undefined) yield undefined;
    else return yield { file, description: `has another page ${page} than was written` };
  }
  yield formFault(db, file);
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
