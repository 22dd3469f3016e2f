/**
 * Which log a data folder has, and whether it is a copy of a cluster's: how a log of one gateway becomes a
 * cluster's, and a copy a log of its own again. A stream names in its metadata what precedes it, so making
 * it is what decides; the folder follows.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { jetstreamManager } from '@nats-io/jetstream';

import type { Seq } from '../../log/log.ts';
import { readMeta, SUMS_SUFFIX } from '../sqlite/database.ts';
import { type DataPaths, dataPathsIn } from '../sqlite/data-paths.ts';
import { checkHistory } from '../sqlite/log/accept-loss.ts';
import {
  flushWal,
  openAnyLogForReading,
  openLogForReading,
  openLogForWriting,
  renameLog,
  rollBackJournal,
} from '../sqlite/log/log-database.ts';
import { endOfLog } from '../sqlite/log/log-end.ts';
import { joinStream, leaveStream, readStreamPosition } from '../sqlite/log/stream-progress.ts';
import { lastWithheld } from '../sqlite/log/withheld-table.ts';
import { lockFile } from '../sqlite/lock-file.ts';
import { flushFolder } from '../sqlite/prepare-folder.ts';
import { checkServers, ClusterRefusal } from './check-servers.ts';
import { COPIES_SUFFIX, REPORT_MS } from './copy-comparison.ts';
import { unpackMessage } from './message.ts';
import { parseStreamAddress, type StreamAddress } from './stream-address.ts';
import {
  connectOnce,
  type ContinuedLog,
  existingStream,
  openStream,
  readStream,
  type StreamState,
} from './stream.ts';

/** Where a copy stands in its stream, and the log that both have. */
export interface CopyState {
  readonly logName: string;
  /** See `StreamPosition`; undefined for a copy that has applied nothing. */
  readonly stream: string | undefined;
  readonly position: number;
  readonly resumeAt: number;
}

/** What a folder has that is not empty. */
interface FolderState extends AdoptedLog {
  /** Undefined where no stream has put its entries in order. */
  readonly copy: CopyState | undefined;
}

export interface AdoptedLog {
  readonly name: string;
  readonly head: Seq;
}

export interface LeftLog extends AdoptedLog {
  /** False where the folder was no copy of a cluster's. */
  readonly wasCopy: boolean;
}

/**
 * The state with which a gateway of the cluster begins; a stream is made for an empty folder if there is
 * none. Throws a `ClusterRefusal` where the folder has not what the stream goes on from.
 */
export async function copyStateOf(folder: string, address: StreamAddress): Promise<CopyState> {
  const paths = dataPathsIn(folder);
  const found = readFolder(paths);
  if (found?.copy !== undefined) return found.copy;
  if (found === undefined) {
    const { logName, id, beginning } = await openStream(address);
    if (beginning.head > 0) throw new ClusterRefusal(lacksBeginning(address, beginning.head));
    return { logName, stream: id, position: 0, resumeAt: 1 };
  }
  const stream = await existingStream(address);
  if (stream === undefined || !isContinued(continuedLog(paths), stream))
    throw new ClusterRefusal(noStreamGoesOn(folder, address));
  return { logName: stream.logName, stream: stream.id, position: 0, resumeAt: 1 };
}

/**
 * Makes a stream that goes on from the log of this folder, which becomes the first copy of the cluster.
 * Does nothing where it is that already. Throws where a gateway has the folder, a `ClusterRefusal` where
 * the stream orders another log.
 */
export async function adoptFolder(folder: string, stream: string): Promise<AdoptedLog> {
  const paths = dataPathsIn(folder);
  using _lock = lockFolder(paths);
  const log = folderWithEntries(paths);
  const address = addressOf(stream);
  const unchecked = await checkServers(address.servers);
  if (unchecked.length > 0)
    throw new ClusterRefusal(
      `${unchecked.join(', ')}: no server stores there. Start it first, with JetStream.`,
    );
  const { name, head, copy } = log;
  const continued = continuedLog(paths);
  const state =
    copy === undefined ? await openStream(address, continued) : await existingStream(address);
  const isFirstCopy = state !== undefined && isContinued(continued, state);
  if (copy === undefined ? !isFirstCopy : state?.logName !== copy.logName)
    throw new ClusterRefusal(ordersAnother(address, state?.logName));
  if (copy === undefined) change(paths, (db) => joinStream(db, state?.id ?? '', head));
  return { name, head };
}

/**
 * Makes the copy in this folder a log of its own, which goes on under the same name. Does nothing where
 * it is that already. Throws where a gateway has the folder, and a `ClusterRefusal` where another gateway
 * of the cluster runs, or the copy lacks what the stream has. Without a stream (undefined), what the copy
 * lacks is given up, and the log gets a new name.
 */
export async function leaveCluster(folder: string, stream: string | undefined): Promise<LeftLog> {
  const paths = dataPathsIn(folder);
  using _lock = lockFolder(paths);
  const { name, head, copy } = folderWithEntries(paths);
  if (copy === undefined) return { name, head, wasCopy: false };
  if (stream !== undefined) await requireAll(addressOf(stream), copy);
  if (stream === undefined) removeDerived(paths);
  change(paths, (db) => {
    leaveStream(db);
    if (stream === undefined) renameLog(db);
  });
  return { name: folderWithEntries(paths).name, head, wasCopy: true };
}

/** Throws where the copy lacks an entry or a withholding, or another gateway may add one. */
async function requireAll(address: StreamAddress, { logName, position }: CopyState): Promise<void> {
  const connection = await connectOnce(address);
  try {
    const manager = await jetstreamManager(connection);
    const names = await Array.fromAsync(manager.streams.names());
    if (!names.includes(address.stream))
      throw new ClusterRefusal(
        `There is no stream ${address.stream} any more, so nobody can say whether this copy has everything: --accept-loss goes on with what it has, under a new name.`,
      );
    const state = await readStream(manager, address);
    if (state.logName !== logName) throw new ClusterRefusal(ordersAnother(address, state.logName));
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
    for (let at = position + 1; at <= lastSeq; at += 1) {
      const message = await manager.streams.getMessage(address.stream, { seq: at });
      if (message === null) continue;
      const { kind, payload } = unpackMessage(message.data);
      if (kind === 'withhold' || (kind === 'drafts' && payload.length > 0))
        throw new ClusterRefusal(
          'This copy lacks what the cluster has stored. Start its gateway with --log until /readyz answers 200, stop it, and try again; or let the gateway of another copy leave.',
        );
    }
  } finally {
    await connection.close();
  }
}

function lockFolder(paths: DataPaths): Disposable {
  const lock = lockFile(paths.lock, 'A gateway is using it. Stop it first.');
  return { [Symbol.dispose]: () => lock.close() };
}

/** Undefined for one without entries. Throws where it has other entries than its stream has given it. */
function readFolder(paths: DataPaths): FolderState | undefined {
  rollBackJournal(paths);
  const db = openAnyLogForReading(paths);
  if (db === undefined) return undefined;
  try {
    const head = endOfLog(db).lastSeq();
    const stored = readStreamPosition(db);
    if (stored === undefined && head === 0) return undefined;
    if (stored !== undefined && stored.head !== head)
      throw new ClusterRefusal(
        `"${paths.folder}" has entries that its stream has not put in order. Start this gateway of the cluster with an empty folder, or with one that is restored from a backup of another gateway: presence restore BACKUP --data FOLDER --as-copy.`,
      );
    const name = String(readMeta(db, 'name'));
    return { name, head, copy: stored && { ...stored, logName: name } };
  } finally {
    db.close();
  }
}

function folderWithEntries(paths: DataPaths): FolderState {
  checkHistory(paths, false);
  const log = readFolder(paths);
  if (log === undefined) throw new Error('It has no entries.');
  return log;
}

/** Throws for a log of an older format, which a start brings forward. */
function continuedLog(paths: DataPaths): ContinuedLog {
  const db = openLogForReading(paths);
  try {
    const end = endOfLog(db);
    const head = end.lastSeq();
    const beginning = { head, link: end.linkAt(head) ?? '', withheld: lastWithheld(db) };
    return { name: String(readMeta(db, 'name')), beginning };
  } finally {
    db.close();
  }
}

function isContinued(log: ContinuedLog, { logName, beginning }: StreamState): boolean {
  const { head, link, withheld } = log.beginning;
  return (
    log.name === logName &&
    beginning.head === head &&
    beginning.link === link &&
    beginning.withheld === withheld
  );
}

/** What tells the name of the log; the next start makes it again. */
function removeDerived({ folder, index, search, runs, lastCommit }: DataPaths): void {
  const databases = [index, search].flatMap((file) =>
    ['', '-wal', '-shm', SUMS_SUFFIX].map((suffix) => file + suffix),
  );
  for (const path of [...databases, runs, lastCommit])
    rmSync(path, { recursive: true, force: true });
  flushFolder(folder);
}

function change(paths: DataPaths, work: (db: ReturnType<typeof openLogForWriting>) => void): void {
  const db = openLogForWriting(paths);
  try {
    flushWal(db);
    db.exec('BEGIN IMMEDIATE');
    work(db);
    db.exec('COMMIT');
    flushWal(db);
  } finally {
    db.close();
  }
}

function addressOf(stream: string): StreamAddress {
  const address = parseStreamAddress(stream);
  if (address === undefined) throw new Error(`"${stream}" is no address of a stream.`);
  return address;
}

function ordersAnother({ stream }: StreamAddress, logName: string | undefined): string {
  if (logName === undefined) return `There is no stream ${stream}.`;
  return `The stream ${stream} orders another log, ${logName}. Name another stream behind the servers (--log nats://…/NAME), or remove this one if nobody needs it.`;
}

function lacksBeginning({ stream }: StreamAddress, head: Seq): string {
  return `The first ${head} entries of this cluster's log are older than its stream ${stream}, so an empty folder cannot be filled from there. Restore this folder from a backup of another gateway: presence restore BACKUP --data FOLDER --as-copy.`;
}

function noStreamGoesOn(folder: string, { stream }: StreamAddress): string {
  return `"${folder}" has entries, and the stream ${stream} does not go on from them. To make a cluster of this log: presence cluster adopt. To add this gateway to a cluster: start it with an empty folder, or with one that is restored from a backup of another gateway: presence restore BACKUP --data FOLDER --as-copy.`;
}
