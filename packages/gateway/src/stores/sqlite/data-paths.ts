import { join } from 'node:path';

/**
 * The files of a data folder. `log`, `large` and `incoming` hold the entries; `index`, `runs` and
 * `search` are derived from them and are rebuilt when they are lost.
 */
export interface DataPaths {
  readonly folder: string;
  readonly lock: string;
  readonly log: string;
  /** How far the log was at its last commit. */
  readonly lastCommit: string;
  readonly index: string;
  /** The full-text index. */
  readonly search: string;
  /** Folder with one file of joined entries per kind. */
  readonly runs: string;
  /** Folder of bodies too large for a row. */
  readonly large: string;
  /** Folder of such bodies while they are uploaded. */
  readonly incoming: string;
}

export function dataPathsIn(folder: string): DataPaths {
  return {
    folder,
    lock: join(folder, 'lock.sqlite'),
    log: join(folder, 'log.sqlite'),
    lastCommit: join(folder, 'last-commit'),
    index: join(folder, 'index.sqlite'),
    search: join(folder, 'search.sqlite'),
    runs: join(folder, 'runs'),
    large: join(folder, 'large'),
    incoming: join(folder, 'large', 'incoming'),
  };
}
