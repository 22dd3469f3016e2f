import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { StorageFault } from '../storage-fault.ts';

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const SQLITE_FULL = 13;

/** Thrown where an entry of the log cannot be what was written. */
export class Spoiled extends StorageFault {}

/** Returns what was read; undefined where it turns out to be spoiled. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error)) return undefined;
    throw error;
  }
}

/** Whether a page, a file or an entry has lost its form. */
export function isSpoiled(error: unknown): error is Error {
  if (error instanceof Spoiled) return true;
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

export function isDiskFull(error: Error): boolean {
  if ('errcode' in error) return error.errcode === SQLITE_FULL;
  return 'code' in error && error.code === 'ENOSPC';
}

export function openForReading(file: string, cacheKiB = 8192): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  db.exec(`PRAGMA cache_size = -${cacheKiB}`);
  return db;
}

export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
}

/** Rolls back where the work throws. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

export function readMeta(db: DatabaseSync, name: string): string | number | undefined {
  const value = db.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

export function readPragma(db: DatabaseSync, name: string): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  return typeof value === 'number' ? value : 0;
}
