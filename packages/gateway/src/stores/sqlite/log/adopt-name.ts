import { readMeta } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { flushWal, openAnyLogForWriting } from './log-database.ts';
import { endOfLog } from './log-end.ts';

/**
 * Gives a log without entries this name, so that it can become a copy of another; makes one where
 * there is none. Throws if it has entries, and another name.
 */
export function adoptName(paths: DataPaths, name: string): void {
  const db = openAnyLogForWriting(paths);
  try {
    const own = String(readMeta(db, 'name'));
    if (own === name) return;
    if (endOfLog(db).lastSeq() > 0)
      throw new Error(`"${paths.folder}" has another log: its name is ${own}, not ${name}.`);
    flushWal(db);
    db.prepare("UPDATE meta SET value = ? WHERE name = 'name'").run(name);
  } finally {
    db.close();
  }
}
