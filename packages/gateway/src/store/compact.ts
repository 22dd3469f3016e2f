import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { refuseBackup } from './backup/description.ts';
import { dataPathsIn } from './data-paths.ts';
import { openIndexForWriting } from './index/index-database.ts';
import { lockFile } from './lock-file.ts';
import { flushWal, openLogForReading, openLogForWriting } from './log/log-database.ts';

// The text of a withheld entry was overwritten with zeros, which no other text has.
const TRIM = `UPDATE entries SET text = substr(text, 1, instr(text, x'00') - 1)
  WHERE seq IN (SELECT seq FROM withheld WHERE isErased = 1) AND instr(text, x'00') > 0`;

export interface CompactReport {
  /** Of the log and its index, in bytes. */
  readonly before: number;
  readonly after: number;
}

/** Gives the file system back what the log and its index do not need. Throws while a gateway uses the folder. */
export function compactLog(folder: string): CompactReport {
  const paths = dataPathsIn(resolve(folder));
  refuseBackup(folder);
  openLogForReading(paths).close();
  using _lock = lockFile(paths.lock, `a gateway is using "${folder}". Stop it first`);
  const files = [paths.log, paths.index].filter((path) => existsSync(path));
  const size = (): number => files.reduce((sum, path) => sum + statSync(path).size, 0);
  using log = openLogForWriting(paths);
  flushWal(log);
  const before = size();
  // SQLite makes a copy for a while: the system's folder for temporary files may be in memory.
  log.exec(`PRAGMA temp_store_directory = '${paths.folder.replaceAll("'", "''")}'; ${TRIM}`);
  vacuum(log);
  if (files.includes(paths.index)) {
    using index = openIndexForWriting(paths.index);
    vacuum(index);
  }
  return { before, after: size() };
}

function vacuum(db: DatabaseSync): void {
  db.exec('VACUUM');
  flushWal(db);
}
