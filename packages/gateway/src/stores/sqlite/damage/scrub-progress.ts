/** How far the background has verified the log, as stored in `index.sqlite` at times. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { isStorageFault } from '../../../storage-fault.ts';
import { dataPathsIn } from '../data-paths.ts';
import { openForReading, readMeta, readMetaSeq } from '../database.ts';

export interface ScrubProgress {
  /** The last entry of this pass that was verified; 0 at its start. */
  readonly at: Seq;
  /** When the last whole pass ended, in ms since 1970; 0 if there was none. */
  readonly completed: number;
}

export function readScrubProgress(index: DatabaseSync): ScrubProgress | undefined {
  if (readMeta(index, 'scrubbed') === undefined) return undefined;
  return { at: readMetaSeq(index, 'scrubbed'), completed: readMetaSeq(index, 'scrubCompleted') };
}

/** Undefined where it is not known: before the first start, and once the index was made again. */
export function scrubProgress(folder: string): ScrubProgress | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = openForReading(dataPathsIn(folder).index);
    return readScrubProgress(db);
  } catch (error) {
    if (isStorageFault(error)) return undefined;
    throw error;
  } finally {
    db?.close();
  }
}
