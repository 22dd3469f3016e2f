/** How far the background has verified the log, as it is stored at times. */
import { join } from 'node:path';

import type { Seq } from '../../../log/log.ts';
import { isStorageFault } from '../../../storage-fault.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { makeFolder } from '../prepare-folder.ts';
import { readChecked, writeChecked } from '../segment-record.ts';

export interface ScrubProgress {
  /** The last entry of this pass that was verified; 0 at its start. */
  readonly at: Seq;
  /** When the last whole pass ended, in ms since 1970; 0 if there was none. */
  readonly completed: number;
}

/** Undefined where it is not known: before the first start, and where the file is lost. */
export function scrubProgress(folder: string): ScrubProgress | undefined {
  try {
    return readChecked(progressFile(folder)) as ScrubProgress | undefined;
  } catch (error) {
    if (isStorageFault(error)) return undefined;
    throw error;
  }
}

export function storeScrubProgress({ folder, segments }: DataPaths, progress: ScrubProgress): void {
  makeFolder(segments);
  writeChecked(progressFile(folder), progress);
}

function progressFile(folder: string): string {
  return join(dataPathsIn(folder).segments, 'verified.json');
}
