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
import { openSqliteLog, type OwnedLog, type SqliteOptions } from '../sqlite/store.ts';
import { checkServers } from './check-servers.ts';
import { copyStateOf } from './cluster-folder.ts';
import { parseStreamAddress, type StreamAddress } from './stream-address.ts';

export interface ClusterOptions extends Omit<SqliteOptions, 'name' | 'acceptClock' | 'appending'> {
  /** See `StreamAddress`. */
  readonly stream: string;
  /** Called with the servers that do not run now, whose settings are checked when they do. */
  readonly onUnchecked?: (servers: readonly string[]) => void;
}

/** What the stream's thread starts with. */
export interface StreamThreadStart {
  readonly address: StreamAddress;
  readonly logName: string;
  /** See `CopyState`. */
  readonly stream: string | undefined;
  readonly position: number;
  readonly resumeAt: number;
  /** Servers that stored nothing at the start. */
  readonly unchecked: readonly string[];
  readonly writer: MessagePort;
}

/**
 * Resolves once this copy has what the stream had at the start, or, where the servers cannot be
 * reached, with what it has. Throws where the folder is no copy of the stream's log, and a
 * `ClusterRefusal` where a server or the stream could lose what it has acknowledged.
 */
export async function openClusterLog({ stream, ...options }: ClusterOptions): Promise<OwnedLog> {
  const address = parseStreamAddress(stream);
  if (address === undefined) throw new Error(`"${stream}" is no address of a stream.`);
  const unchecked = await checkServers(address.servers);
  options.onUnchecked?.(unchecked);
  const { logName: name, ...state } = await copyStateOf(options.folder, address);
  return await openSqliteLog({
    ...options,
    name,
    // Times come from the stream.
    acceptClock: true,
    appending: {
      module: threadModule('./stream-thread', import.meta.url),
      startOf: (writer) =>
        ({
          address,
          logName: name,
          ...state,
          unchecked,
          writer,
        }) satisfies StreamThreadStart,
    },
  });
}
