/**
 * The store of a cluster: a JetStream stream puts drafts in order, and each gateway applies them to a
 * folder of its own, which it reads like the embedded store. Upholds that an append is acknowledged
 * once a majority of the servers has flushed it and this gateway's folder has it, and that all folders
 * have the same entries with the same links.
 *
 * `message.ts` documents what is in the stream.
 */
import type { MessagePort } from 'node:worker_threads';

import { threadModule } from '../../thread-module.ts';
import { readMeta } from '../sqlite/database.ts';
import { dataPathsIn } from '../sqlite/data-paths.ts';
import { openAnyLogForReading } from '../sqlite/log/log-database.ts';
import { endOfLog } from '../sqlite/log/log-end.ts';
import { readStreamPosition } from '../sqlite/log/stream-progress.ts';
import { openSqliteLog, type OwnedLog, type SqliteOptions } from '../sqlite/store.ts';
import { checkServers } from './check-servers.ts';
import { parseStreamAddress, type StreamAddress } from './stream-address.ts';
import { logNameOf } from './stream.ts';

export interface ClusterOptions extends Omit<SqliteOptions, 'name' | 'acceptClock' | 'appending'> {
  /** See `StreamAddress`. */
  readonly stream: string;
  /** Called with the servers that do not run now, whose settings could not be checked. */
  readonly onUnchecked?: (servers: readonly string[]) => void;
}

/** What the stream's thread starts with. */
export interface StreamThreadStart {
  readonly address: StreamAddress;
  readonly logName: string;
  /** See `StreamPosition`. */
  readonly position: number;
  readonly resumeAt: number;
  readonly writer: MessagePort;
}

interface CopyState extends Pick<StreamThreadStart, 'position' | 'resumeAt'> {
  readonly logName: string | undefined;
}

/**
 * Resolves once this copy has what the stream had at the start, or, where the servers cannot be
 * reached, with what it has. Throws where the folder is no copy of the stream's log, and a
 * `ClusterRefusal` where a server or the stream could lose what it has acknowledged.
 */
export async function openClusterLog({ stream, ...options }: ClusterOptions): Promise<OwnedLog> {
  const address = parseStreamAddress(stream);
  if (address === undefined) throw new Error(`"${stream}" is no address of a stream.`);
  const { position, resumeAt, logName } = stateOf(options.folder);
  options.onUnchecked?.(await checkServers(address.servers));
  const name = logName ?? (await logNameOf(address));
  return await openSqliteLog({
    ...options,
    name,
    // Times come from the stream.
    acceptClock: true,
    appending: {
      module: threadModule('./stream-thread', import.meta.url),
      startOf: (writer) =>
        ({ address, logName: name, position, resumeAt, writer }) satisfies StreamThreadStart,
    },
  });
}

function stateOf(folder: string): CopyState {
  const db = openAnyLogForReading(dataPathsIn(folder));
  const none: CopyState = { logName: undefined, position: 0, resumeAt: 1 };
  if (db === undefined) return none;
  try {
    const head = endOfLog(db).lastSeq();
    const stored = readStreamPosition(db);
    if (stored === undefined && head === 0) return none;
    if (stored?.head !== head)
      throw new Error(
        `"${folder}" has entries that no stream has put in order. Start this gateway of the cluster with an empty folder.`,
      );
    return { ...stored, logName: String(readMeta(db, 'name')) };
  } finally {
    db.close();
  }
}
