import { DatabaseSync } from 'node:sqlite';

import type { DataPaths } from '../data-paths.ts';

/**
 * Locks the data folder for one gateway until the database is closed. The operating system releases
 * the lock when the process ends, however it ends. Throws at once when another process has it.
 */
export function lockFolder(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.lock, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new Error(
        `Another gateway is using the data folder "${paths.folder}". Stop it first, or start this one with a folder of its own (--data).`,
        { cause: error },
      );
    }
    throw error;
  }
}
