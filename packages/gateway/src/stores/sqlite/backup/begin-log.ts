import { rmSync } from 'node:fs';

import type { DataPaths } from '../data-paths.ts';
import { readMeta, transact } from '../database.ts';
import { openLogForWriting, renameLog } from '../log/log-database.ts';
import { flushFolder } from '../prepare-folder.ts';
import { leaveStream } from '../replica/stream-progress.ts';

interface LogUse {
  /** Without it, readers notice by the new name that later entries may be gone. */
  readonly keepName: boolean;
  /** Whether it goes on as a copy of a cluster's log. */
  readonly isCopy: boolean;
}

/**
 * Turns a backup into a log that a gateway can start on. Returns the log's name. Can be repeated after an
 * interruption.
 */
export function beginLog(paths: DataPaths, { keepName, isCopy }: LogUse): string {
  using db = openLogForWriting(paths);
  transact(db, () => {
    if (!isCopy) leaveStream(db);
    if (!keepName) renameLog(db);
  });
  rmSync(paths.backup, { force: true });
  flushFolder(paths.folder);
  return String(readMeta(db, 'name'));
}
