import { join } from 'node:path';

/** In a data folder. `log` and `large` hold the entries; `index` is made again where it is lost. */
const FILES = {
  lock: 'lock.sqlite',
  log: 'log.sqlite',
  lastCommit: 'last-commit',
  /** Takes room that is given up on a full disk. */
  reserve: 'reserve',
  /** In a backup of version 0.2. */
  backup: 'backup.json',
  /** When the newest backup of the folder began, as RFC 3339. */
  lastBackup: 'last-backup',
  /** Folder of what a restore copies, until it takes its place. */
  restoring: 'restoring',
  /** Why nothing is stored, where it is there. */
  readOnly: 'read-only',
  /** Folder of what was told to the owner in private (see `operations/notices.ts`). */
  notices: 'notices',
  /** Finds entries by words and facets (see `index/index-database.ts`). */
  index: 'index.sqlite',
  /** Folder of bodies too large for a row. */
  large: 'large',
} as const;

export type DataPaths = Readonly<Record<keyof typeof FILES | 'folder', string>>;

export function dataPathsIn(folder: string): DataPaths {
  const paths = Object.entries(FILES).map(([name, file]) => [name, join(folder, file)]);
  return { folder, ...(Object.fromEntries(paths) as Omit<DataPaths, 'folder'>) };
}
