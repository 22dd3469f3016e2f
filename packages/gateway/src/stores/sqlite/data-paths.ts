import { join } from 'node:path';

/** A data folder. `log`, `large` and `incoming` hold the entries; `keys` and `segments` are made again where lost. */
export interface DataPaths {
  readonly folder: string;
  readonly lock: string;
  readonly log: string;
  readonly lastCommit: string;
  /** Says, where it is there, that the folder is a backup, and of what. */
  readonly backup: string;
  /** Why nothing is stored, where it is there. */
  readonly readOnly: string;
  /** Folder of what was told to the owner in private (see `operations/notices.ts`). */
  readonly notices: string;
  /** Finds entries by their idempotency keys. */
  readonly keys: string;
  /** Folder with a folder for each segment (see `segment-record.ts`). */
  readonly segments: string;
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
    backup: join(folder, 'backup.json'),
    readOnly: join(folder, 'read-only'),
    notices: join(folder, 'notices'),
    keys: join(folder, 'keys.sqlite'),
    segments: join(folder, 'segments'),
    large: join(folder, 'large'),
    incoming: join(folder, 'large', 'incoming'),
  };
}
