import { DatabaseSync } from 'node:sqlite';

/**
 * Locks a file until the database is closed. The operating system releases the lock when the process
 * ends, however it ends. Throws this refusal at once when another process has it.
 */
export function lockFile(file: string, refusal: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && /locked|busy/.test(error.message))
      throw new Error(refusal, { cause: error });
    throw error;
  }
}
