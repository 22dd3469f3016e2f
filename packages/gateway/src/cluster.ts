/** The gateway as one of a cluster, whose package is loaded here alone. Part of the composition root. */
import type { MessagePort } from 'node:worker_threads';

import { loadCluster } from './load-cluster.ts';
import { parseStreamAddress, type ReplicaLog, type StreamAddress } from './log/replica.ts';
import { OtherGateways } from './presence/other-gateways.ts';
import { SqliteReplicaFolder } from './store/replica/replica-folder.ts';
import type { StreamThreadStart } from './store/replica/stream-thread.ts';
import { openSqliteLog, type OwnedLog, type SqliteOptions } from './store/store.ts';
import { threadModule } from './thread-module.ts';

export interface ClusterOptions extends Omit<SqliteOptions, 'name' | 'acceptClock' | 'appending'> {
  /** See `StreamAddress`. */
  readonly stream: string;
  /** Called with the servers that do not run now, whose settings are checked when they do. */
  readonly onUnchecked?: (servers: readonly string[]) => void;
}

/**
 * Resolves after this replica has everything that the stream had at the start or, if no server can be reached,
 * with what it has. Throws if the folder is no replica of the stream's log, or if a server or the stream could
 * lose what it acknowledges.
 */
export async function openClusterLog({
  stream,
  onUnchecked = () => {},
  ...options
}: ClusterOptions): Promise<OwnedLog> {
  const cluster = await loadCluster();
  const folder = new SqliteReplicaFolder(options.folder);
  const start = await cluster.begin(folder, addressOf(stream), onUnchecked);
  return await openSqliteLog({
    ...options,
    name: start.logName,
    // Times come from the stream.
    acceptClock: true,
    appending: {
      module: threadModule('./store/replica/stream-thread', import.meta.url),
      startOf: (writer) => ({ start, writer }) satisfies StreamThreadStart,
    },
  });
}

/** Who is present at one gateway is present at all. `port`: of the hub of this gateway's threads. */
export async function shareClusterPresence(
  stream: string,
  port: MessagePort,
  leaseMs?: number,
): Promise<AsyncDisposable> {
  const transport = (await loadCluster()).gateways(addressOf(stream));
  const gateways = new OtherGateways(port, transport, leaseMs);
  return {
    async [Symbol.asyncDispose]() {
      gateways[Symbol.dispose]();
      await transport[Symbol.asyncDispose]();
    },
  };
}

/**
 * Throws what a gateway would refuse, and if no server can be reached. Resolves with the servers that store
 * nothing.
 */
export async function checkCluster(stream: string): Promise<readonly string[]> {
  return await (await loadCluster()).check(addressOf(stream));
}

/**
 * The log becomes the first replica of a cluster. Throws if a gateway uses the folder, or the stream orders
 * another log.
 */
export async function adoptIntoCluster(data: string, stream: string): Promise<ReplicaLog> {
  const cluster = await loadCluster();
  const folder = new SqliteReplicaFolder(data);
  using _lock = folder.lock();
  const log = folder.readEntries();
  await cluster.adopt(folder, addressOf(stream));
  return log;
}

export interface LeftLog extends Pick<ReplicaLog, 'name' | 'head'> {
  /** False where the folder was no replica of a cluster's. */
  readonly wasCopy: boolean;
}

/**
 * Makes the replica in this folder a log of its own, which keeps its name. Does nothing if it is one already.
 * Throws if a gateway uses the folder, if another gateway of the cluster runs, or if the replica lacks entries
 * of the stream. Without a stream, those entries are given up, and the log gets a new name.
 */
export async function leaveCluster(data: string, stream: string | undefined): Promise<LeftLog> {
  const folder = new SqliteReplicaFolder(data);
  using _lock = folder.lock();
  const log = folder.readEntries();
  const { head, position } = log;
  if (position === undefined) return { name: log.name, head, wasCopy: false };
  if (stream !== undefined) await (await loadCluster()).requireAll(addressOf(stream), log);
  folder.leave({ keepsName: stream !== undefined });
  return { name: folder.readEntries().name, head, wasCopy: true };
}

function addressOf(stream: string): StreamAddress {
  const address = parseStreamAddress(stream);
  if (address === undefined) throw new Error(`"${stream}" is no address of a stream.`);
  return address;
}
