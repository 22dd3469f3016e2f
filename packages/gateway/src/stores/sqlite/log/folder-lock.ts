/**
 * One data folder, one gateway: an exclusive lock that the operating system lets go of by itself
 * when the process ends, however it ends.
 */
import { DatabaseSync } from 'node:sqlite';

import type { DataPaths } from '../schema.ts';

/** Holds the folder until closed. Throws at once when another process holds it. */
export function lockFolder(places: DataPaths): DatabaseSync {
  const db = new DatabaseSync(places.lock, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new Error(
        `Another gateway is using the data folder "${places.folder}". Stop it first, or start this one with a folder of its own (--data).`,
        { cause: error },
      );
    }
    throw error;
  }
}
