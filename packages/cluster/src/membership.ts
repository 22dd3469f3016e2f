/**
 * Decides whether a folder is a replica of the stream's log, makes one gateway's log a cluster's, and
 * checks whether a copy may leave. The stream's metadata names the log and what precedes the stream. So
 * whoever makes the stream decides which log the cluster has; the folder follows.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { jetstreamManager } from '@nats-io/jetstream';
import type {
  LogBeginning,
  ReplicaFolder,
  ReplicaLog,
  ReplicaStart,
  Seq,
  StreamAddress,
} from '@open-presence/gateway/replica';

import { COPIES_SUFFIX, REPORT_MS } from './applying/copy-comparison.ts';
import { checkServers, ClusterRefusal } from './stream/check-servers.ts';
import { LISTING, unpackMessage } from './stream/message.ts';
import {
  connectOnce,
  existingStream,
  openStream,
  readStream,
  type StreamState,
} from './stream/stream.ts';

/** See `Cluster`. Throws a `ClusterRefusal` if the stream does not go on from what the folder has. */
export async function begin(
  folder: ReplicaFolder,
  address: StreamAddress,
  onUnchecked: (servers: readonly string[]) => void,
): Promise<ReplicaStart> {
  const unchecked = await checkServers(address.servers);
  onUnchecked(unchecked);
  const log = folder.read();
  if (log?.position !== undefined) {
    const { stream, position, resumeAt } = log.position;
    return { address, unchecked, logName: log.name, stream, position, resumeAt };
  }
  const { logName, id } = await (log === undefined
    ? streamFromNothing(address)
    : streamFrom(log, folder, address));
  return { address, unchecked, logName, stream: id, position: 0, resumeAt: 1 };
}

async function streamFromNothing(address: StreamAddress): Promise<StreamState> {
  const state = await openStream(address);
  if (state.beginning.head > 0)
    throw new ClusterRefusal(lacksBeginning(address, state.beginning.head));
  return state;
}

async function streamFrom(
  { name }: ReplicaLog,
  folder: ReplicaFolder,
  address: StreamAddress,
): Promise<StreamState> {
  const state = await existingStream(address);
  if (state === undefined || !isContinued(name, folder.beginning(), state))
    throw new ClusterRefusal(noStreamGoesOn(folder.path, address));
  return state;
}

/** See `Cluster`. */
export async function adopt(folder: ReplicaFolder, address: StreamAddress): Promise<void> {
  const unchecked = await checkServers(address.servers);
  if (unchecked.length > 0)
    throw new ClusterRefusal(
      `${unchecked.join(', ')}: no server stores there. Start it first, with JetStream.`,
    );
  const { name = '', position } = folder.read() ?? {};
  const beginning = folder.beginning();
  const state = await (position === undefined
    ? openStream(address, { name, beginning })
    : existingStream(address));
  const isFirstCopy = state !== undefined && isContinued(name, beginning, state);
  if (position === undefined ? !isFirstCopy : state?.logName !== name)
    throw new ClusterRefusal(ordersAnother(address, state?.logName));
  if (position === undefined) folder.join(state?.id ?? '');
}

/** See `Cluster`. Throws a `ClusterRefusal` if this copy lacks an entry or a withholding, or may soon. */
export async function requireAll(
  address: StreamAddress,
  { name, position }: ReplicaLog,
): Promise<void> {
  const connection = await connectOnce(address);
  try {
    const manager = await jetstreamManager(connection);
    const names = await Array.fromAsync(manager.streams.names());
    if (!names.includes(address.stream))
      throw new ClusterRefusal(
        `There is no stream ${address.stream} any more, so nobody can say whether this copy has everything: --accept-loss goes on with what it has, under a new name.`,
      );
    const state = await readStream(manager, address);
    if (state.logName !== name) throw new ClusterRefusal(ordersAnother(address, state.logName));
    let isAnotherHere = false;
    connection.subscribe(`${address.stream}${COPIES_SUFFIX}`, {
      callback: () => void (isAnotherHere = true),
    });
    await sleep(2 * REPORT_MS);
    if (isAnotherHere)
      throw new ClusterRefusal(
        'A gateway of the cluster runs: what it stores would be missing here. Stop all of them first.',
      );
    const { lastSeq } = await readStream(manager, address);
    for (let at = (position?.position ?? 0) + 1; at <= lastSeq; at += 1) {
      const message = await manager.streams.getMessage(address.stream, { seq: at });
      if (message === null) continue;
      const { kind, payload } = unpackMessage(message.data);
      if (LISTING.includes(kind) || (kind === 'drafts' && payload.length > 0))
        throw new ClusterRefusal(
          'This copy lacks what the cluster has stored. Start its gateway with --log until /readyz answers 200, stop it, and try again; or let the gateway of another copy leave.',
        );
    }
  } finally {
    await connection.close();
  }
}

function isContinued(
  name: string,
  { head, link, withheld }: LogBeginning,
  { logName, beginning }: StreamState,
): boolean {
  return (
    name === logName &&
    beginning.head === head &&
    beginning.link === link &&
    beginning.withheld === withheld
  );
}

function ordersAnother({ stream }: StreamAddress, logName: string | undefined): string {
  if (logName === undefined) return `There is no stream ${stream}.`;
  return `The stream ${stream} orders another log, ${logName}. Name another stream after the servers (--log nats://…/NAME), or remove this one if nobody needs it.`;
}

function lacksBeginning({ stream }: StreamAddress, head: Seq): string {
  return `The first ${head} entries of this cluster's log are older than its stream ${stream}, so an empty folder cannot be filled from there. Restore this folder from a backup of another gateway: presence restore BACKUP --data FOLDER --as-copy.`;
}

function noStreamGoesOn(folder: string, { stream }: StreamAddress): string {
  return `"${folder}" has entries, and the stream ${stream} does not go on from them. To make a cluster of this log: presence cluster adopt. To add this gateway to a cluster: start it with an empty folder, or with one that is restored from a backup of another gateway: presence restore BACKUP --data FOLDER --as-copy.`;
}
