/** Verifies the index and the runs by the checks of the gateway, which may be running. */
import type { DatabaseSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import { readMetaSeq } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { partHolds, partOf, PART_SIZE } from './postings.ts';
import { talliesHold } from './room-counter.ts';
import { type Run, runHolds, runsFile } from './runs-writer.ts';

export interface DerivedFault {
  readonly file: string;
  /** Completes a sentence that begins with the name of the file. */
  readonly description: string;
}

/**
 * Yields what has changed, and undefined after what has not, so that the caller may do something else
 * in between. Throws where SQLite cannot read the index.
 */
export function* indexFaults(
  db: DatabaseSync,
  paths: DataPaths,
): Generator<DerivedFault | undefined, void, undefined> {
  const { index: file } = paths;
  if (!talliesHold(db))
    yield { file, description: 'has other counts of entries than were written' };
  for (let part = 0; part <= partOf(readMetaSeq(db, 'indexed')); part += 1) {
    const from = Math.max(1, part * PART_SIZE);
    const description = `has other postings of the entries from ${from} on than were written`;
    yield partHoldsInOneCommit(db, part) ? undefined : { file, description };
  }
  for (const kind of KINDS) yield* runFaults(db, paths, kind);
}

/** The gateway may write postings between two statements. */
function partHoldsInOneCommit(db: DatabaseSync, part: number): boolean {
  db.exec('BEGIN');
  try {
    return partHolds(db, part);
  } finally {
    db.exec('ROLLBACK');
  }
}

function* runFaults(
  db: DatabaseSync,
  paths: DataPaths,
  kind: Kind,
): Generator<DerivedFault | undefined, void, undefined> {
  const file = runsFile(paths, kind);
  const next = db.prepare('SELECT * FROM runs WHERE kind = ? AND last > ? ORDER BY last LIMIT 1');
  const same = db.prepare('SELECT * FROM runs WHERE kind = ? AND last = ?');
  const holds = (run: Run | undefined): boolean => run === undefined || runHolds(paths, kind, run);
  try {
    for (let at: Seq = Number.MIN_SAFE_INTEGER; ;) {
      const run = next.get(kind, at) as Run | undefined;
      if (run === undefined) return;
      at = run.last;
      // The gateway may write the run again meanwhile, or remove it.
      const isSpoiled = !holds(run) && !holds(same.get(kind, at) as Run | undefined);
      const description = `has another run of the entries from ${run.first} to ${at} than was written`;
      yield isSpoiled ? { file, description } : undefined;
    }
  } catch (error) {
    assertStorageFault(error);
    yield { file, description: `cannot be read (${error.message})` };
  }
}
