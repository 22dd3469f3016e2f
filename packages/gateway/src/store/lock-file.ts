/**
 * Locks a file until the database is closed. The system releases the lock when the process ends,
 * however it ends. Throws `refusal` at once if another process has it.
 *
 * Invariant: One data folder serves one gateway at a time.
 * Test: `test/crash/lock.test.ts` “a second gateway on a folder says that another has it, until
 *   that one is gone”
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

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

/** Whether another process has the lock. Changes nothing. */
export function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  using db = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    db.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (error instanceof Error && /locked|busy/.test(error.message)) return true;
    throw error;
  }
}
