import { readMeta } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { RowReader } from '../log/row-reader.ts';
import { flushWal, openLogForWriting } from '../log/log-database.ts';

/**
 * Gives a log without entries this name, so that it can become a copy of another; makes one where
 * there is none. Throws if it has entries, and another name.
 */
export function adoptName(paths: DataPaths, name: string): void {
  const db = openLogForWriting(paths);
  try {
    const own = String(readMeta(db, 'name'));
    if (own === name) return;
    if (new RowReader(db).lastSeq() > 0)
      throw new Error(`"${paths.folder}" has another log: its name is ${own}, not ${name}.`);
    flushWal(db);
    db.prepare("UPDATE meta SET value = ? WHERE name = 'name'").run(name);
  } finally {
    db.close();
  }
}
