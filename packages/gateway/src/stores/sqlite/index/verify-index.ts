/** Verifies the index and the runs by the checks of the gateway, which may be running. */
import type { DatabaseSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import { readMetaSeq } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { partHolds, partOf, PART_SIZE } from './postings.ts';
import { talliesHold } from './room-counter.ts';
import { STORED_ENCODINGS } from './runs-encoder.ts';
import {
  encodedBytes,
  type EncodedRun,
  plainBytes,
  type Run,
  runHolds,
  runsFile,
} from './runs-files.ts';

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
  for (const kind of KINDS) {
    yield* runFaults(db, paths, kind);
    for (const encoding of STORED_ENCODINGS) yield* encodedRunFaults(db, paths, { kind, encoding });
  }
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
  const next = db.prepare('SELECT * FROM runs WHERE kind = ? AND last > ? ORDER BY last LIMIT 1');
  const same = db.prepare('SELECT * FROM runs WHERE kind = ? AND last = ?');
  yield* faultsOfFile(runsFile(paths, kind), {
    next: (at) => next.get(kind, at) as Run | undefined,
    same: (last) => same.get(kind, last) as Run | undefined,
    holds: (run) => runHolds(plainBytes(paths, kind, run)),
  });
}

function* encodedRunFaults(
  db: DatabaseSync,
  paths: DataPaths,
  { kind, encoding }: Pick<EncodedRun, 'kind' | 'encoding'>,
): Generator<DerivedFault | undefined, void, undefined> {
  const where = 'SELECT * FROM encoded_runs WHERE kind = ? AND encoding = ?';
  const next = db.prepare(`${where} AND last > ? ORDER BY last LIMIT 1`);
  const same = db.prepare(`${where} AND last = ?`);
  yield* faultsOfFile(runsFile(paths, kind, encoding), {
    next: (at) => next.get(kind, encoding, at) as EncodedRun | undefined,
    same: (last) => same.get(kind, encoding, last) as EncodedRun | undefined,
    holds: (run) => runHolds(encodedBytes(paths, run)),
  });
}

interface RunRows<Row> {
  readonly next: (last: Seq) => Row | undefined;
  readonly same: (last: Seq) => Row | undefined;
  readonly holds: (run: Row) => boolean;
}

function* faultsOfFile<Row extends Pick<Run, 'first' | 'last'>>(
  file: string,
  { next, same, holds }: RunRows<Row>,
): Generator<DerivedFault | undefined, void, undefined> {
  try {
    for (let at: Seq = Number.MIN_SAFE_INTEGER; ;) {
      const run = next(at);
      if (run === undefined) return;
      at = run.last;
      // The gateway may write the run again meanwhile, or remove it.
      const again = holds(run) ? undefined : same(at);
      const isSpoiled = again !== undefined && !holds(again);
      const description = `has another run of the entries from ${run.first} to ${at} than was written`;
      yield isSpoiled ? { file, description } : undefined;
    }
  } catch (error) {
    assertStorageFault(error);
    yield { file, description: `cannot be read (${error.message})` };
  }
}
