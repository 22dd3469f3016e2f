import { rmSync } from 'node:fs';

import type { DataPaths } from '../data-paths.ts';
import { readMeta } from '../database.ts';
import { openLogForWriting, renameLog } from '../log/log-database.ts';
import { flushFolder } from '../prepare-folder.ts';
import { leaveStream } from '../replica/stream-progress.ts';

interface LogUse {
  /** Without it, the log gets a new name, by which readers notice that later entries may be gone. */
  readonly keepName: boolean;
  /** Whether it goes on as a copy of a cluster's log. */
  readonly isCopy: boolean;
}

/**
 * Makes of a backup what a gateway is started on. Returns the name of the log. What is interrupted is done
 * again by the next call: the folder is no backup any more once the file that says so is gone.
 */
export function beginLog(paths: DataPaths, { keepName, isCopy }: LogUse): string {
  using db = openLogForWriting(paths);
  db.exec('BEGIN IMMEDIATE');
  if (!isCopy) leaveStream(db);
  if (!keepName) renameLog(db);
  db.exec('COMMIT');
  rmSync(paths.backup, { force: true });
  flushFolder(paths.folder);
  return String(readMeta(db, 'name'));
}
