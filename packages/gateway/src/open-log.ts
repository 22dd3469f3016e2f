/** Opens the log of a gateway, alone or as one of a cluster, and reports on it. Part of the composition root. */
import type { Logger } from 'pino';

import { openClusterLog } from './cluster.ts';
import type { BackupDescription } from './store/backup/description.ts';
import type { StoreChange } from './store/store-thread.ts';
import {
  type OpeningProgress,
  openSqliteLog,
  type OwnedLog,
  type SqliteOptions,
} from './store/store.ts';

/** The part of a gateway's configuration that its log depends on. */
export interface LogConfig {
  /** Folder of the log; created if missing. */
  readonly data: string;
  /** Threads in libuv's pool (`UV_THREADPOOL_SIZE`): uploads take half of them at most. */
  readonly fileThreads?: number | undefined;
  readonly logger: Logger;
  /** Set for a mirror: only what is copied is stored. `name`: of the log, for a folder without one. */
  readonly mirror?: { readonly origin: string; readonly name: string | undefined } | undefined;
  /** The stream of a cluster, `nats://a:4222,b:4222,c:4222/NAME`. Without it, the log is in the folder alone. */
  readonly log?: string | undefined;
}

/** What is reported when a part of the store begins to fail, and when it works again. */
const CHANGES: Readonly<Record<StoreChange['part'], { failing: string; working: string }>> = {
  storing: {
    failing: 'holding: entries cannot be stored now; reading goes on',
    working: 'breathing: entries can be stored again',
  },
  uploads: {
    failing: 'uploads: large entries cannot be written',
    working: 'uploads: large entries are written again',
  },
  index: {
    failing: 'index: what is said now cannot be searched yet; trying again',
    working: 'index: entries are indexed again',
  },
  derived: {
    failing: 'index: what is spoiled is made again from the log; reading goes on',
    working: 'index: what was spoiled has been made again',
  },
  erasing: {
    failing: 'log: what was withheld is not shown any more, but cannot be erased yet; trying again',
    working: 'log: what was withheld is being erased again',
  },
  stream: {
    failing: 'holding: the NATS servers do not acknowledge entries; reading goes on',
    working: 'breathing: the NATS servers acknowledge entries again',
  },
  servers: {
    failing: 'holding: a NATS server could lose what it acknowledges; reading goes on',
    working: 'cluster: the NATS servers keep what they acknowledge',
  },
  copies: {
    failing:
      'cluster: the copies of the log differ; find out by "presence verify" which of them has changed',
    working: 'cluster: the copies of the log are equal again',
  },
};

const BACKUP_BEGUN =
  'this folder was a backup, and is the data folder of a log now; with another name, readers begin anew';

const UNCHECKED_SERVERS =
  'cluster: these NATS servers are down, or have JetStream off, as after a full disk; their settings are checked when they store again';

/** `onProgress`: called about once a second while the log is read. */
export async function openLog(
  {
    data: folder,
    fileThreads,
    metricsOf,
    logger: report,
    mirror,
    log: stream,
  }: LogConfig & Pick<SqliteOptions, 'metricsOf'>,
  onProgress: (progress: OpeningProgress) => void,
): Promise<OwnedLog> {
  const options = {
    folder,
    fileThreads,
    metricsOf,
    onProgress,
    onChange: ({ part, cause }: StoreChange) => {
      const status =
        part === 'storing' || part === 'stream'
          ? { status: cause === undefined ? 'breathing' : 'holding' }
          : {};
      const { failing, working } = CHANGES[part];
      report.warn({ ...status, ...cause }, cause === undefined ? working : failing);
    },
    onBegunBackup: ({ log: before, head }: BackupDescription, log: string) =>
      report.warn({ before, log, head }, BACKUP_BEGUN),
  };
  if (stream === undefined) return await openSqliteLog({ ...options, name: mirror?.name });
  if (mirror !== undefined) throw new Error('A gateway of a cluster cannot be a mirror.');
  const onUnchecked = (servers: readonly string[]): void => {
    if (servers.length > 0) report.warn({ servers }, UNCHECKED_SERVERS);
  };
  return await openClusterLog({ ...options, stream, onUnchecked });
}
