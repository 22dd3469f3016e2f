/** Connects to the NATS servers, makes the stream, and reads and changes its metadata. Leaves messages to others. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  DiscardPolicy,
  jetstreamManager,
  type JetStreamManager,
  StorageType,
} from '@nats-io/jetstream';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import type { LogBeginning, StreamAddress } from '@open-presence/gateway/replica';

import { checkStream, ClusterRefusal, replicasFor } from './check-servers.ts';

// Keys of the stream's metadata.
const LOG_NAME = 'presence-log';
/** Tells the stream from one of the same name that was made later. */
const STREAM_ID = 'presence-stream-id';
/** See `LogBeginning`. */
const BEGINNING = 'presence-beginning';
/** Why no gateway stores anything. If the key is missing, all store. */
const READ_ONLY = 'presence-read-only';
const RECONNECT_MS = 250;
const PING_MS = 2000;
/** 40 s in all: servers that have just started may need 10 s or more to find each other and make a stream. */
const ATTEMPTS = 160;

export function subjectOf({ stream }: StreamAddress): string {
  return `${stream}.log`;
}

/** The subject of the chunks of one upload. */
export function uploadSubject({ stream }: StreamAddress, name: string): string {
  return `${stream}.upload.${name}`;
}

/** The subject of the message that replaces the one at the position. */
export function erasedSubject({ stream }: StreamAddress, position: number): string {
  return `${stream}.erased.${position}`;
}

/** Tries until it is connected; undefined if aborted. `onFailed`: called after each failed attempt. */
export async function connectToServers(
  address: StreamAddress,
  signal: AbortSignal,
  onFailed: (error: Error) => void = () => {},
): Promise<NatsConnection | undefined> {
  while (!signal.aborted) {
    try {
      return await connectOnce(address);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      onFailed(error);
      await sleep(RECONNECT_MS);
    }
  }
  return undefined;
}

/** Throws if no server can be reached. */
export async function connectOnce({
  servers,
  user,
  password,
  credentials,
  tls,
}: StreamAddress): Promise<NatsConnection> {
  return await connect({
    servers: [...servers],
    ...(user === undefined ? {} : { user, pass: password ?? '' }),
    ...(credentials && { authenticator: credsAuthenticator(() => readFileSync(credentials)) }),
    // Certificates have the names in the address, not the addresses by which servers know one another.
    ...(tls && { tls, ignoreClusterUpdates: true }),
    name: 'presence',
    timeout: PING_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
  });
}

export interface StreamState {
  readonly logName: string;
  /** Random, made with the stream. */
  readonly id: string;
  readonly beginning: LogBeginning;
  readonly lastSeq: number;
  /** Why no gateway stores anything now; undefined if they store. */
  readonly readOnly: string | undefined;
  /** Whether a server leads it: without one, it takes no messages. */
  readonly isLed: boolean;
  /** How many of its servers lack a part of the stream now. */
  readonly missingServers: number;
}

/** Throws if no majority of the servers answers, and a `ClusterRefusal` if the stream could lose entries. */
export async function readStream(
  manager: JetStreamManager,
  { servers, stream }: StreamAddress,
): Promise<StreamState> {
  const { config, state, cluster } = await manager.streams.info(stream);
  checkStream(config, replicasFor(servers));
  const logName = config.metadata?.[LOG_NAME];
  if (logName === undefined)
    throw new ClusterRefusal(`The stream "${stream}" was not made by a gateway. Name another one.`);
  const stored = config.metadata?.[BEGINNING];
  const beginning = stored === undefined ? NOTHING : (JSON.parse(stored) as LogBeginning);
  const id = config.metadata?.[STREAM_ID] ?? '';
  const readOnly = config.metadata?.[READ_ONLY];
  const others = cluster?.replicas ?? [];
  const missingServers = others.filter(({ current, offline }) => !current || offline).length;
  const isLed = cluster === undefined || cluster.leader !== undefined;
  return { logName, id, beginning, lastSeq: state.last_seq, readOnly, isLed, missingServers };
}

/** Writes the reason where all gateways read it with the stream's state. Throws if the servers do not confirm it. */
export async function writeReadOnly(
  manager: JetStreamManager,
  { stream }: StreamAddress,
  reason: string | undefined,
): Promise<void> {
  const { config } = await manager.streams.info(stream);
  const { [READ_ONLY]: _, ...metadata } = config.metadata ?? {};
  if (reason !== undefined) metadata[READ_ONLY] = reason;
  await manager.streams.update(stream, { metadata });
}

const NOTHING: LogBeginning = { head: 0, link: '', withheld: 0 };

/** A log that a new stream goes on from. */
interface ContinuedLog {
  readonly name: string;
  readonly beginning: LogBeginning;
}

/** The state of the stream. Makes the stream if there is none, for this log or for a new one. */
export async function openStream(
  address: StreamAddress,
  continued: ContinuedLog = { name: randomBytes(8).toString('hex'), beginning: NOTHING },
): Promise<StreamState> {
  return await askServers(address, async (manager) => {
    // Another gateway may have made it.
    const fault = await createStream(manager, address, continued).then(
      () => undefined,
      (error: unknown) => error,
    );
    try {
      return await readStream(manager, address);
    } catch (error) {
      throw error instanceof ClusterRefusal ? error : (fault ?? error);
    }
  });
}

export async function existingStream(address: StreamAddress): Promise<StreamState | undefined> {
  return await askServers(address, async (manager) => {
    for await (const name of manager.streams.names())
      if (name === address.stream) return await readStream(manager, address);
    return undefined;
  });
}

/** Repeats a question that fails: servers do not answer while they elect a leader. Throws a `ClusterRefusal` at once. */
async function askServers<Answer>(
  address: StreamAddress,
  ask: (manager: JetStreamManager) => Promise<Answer>,
): Promise<Answer> {
  const connection = await connectOnce(address).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `None of the NATS servers can be reached: ${address.servers.join(', ')}. Start them first, or mend what --log names. The reason: ${reason}.`,
      { cause: error },
    );
  });
  try {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await ask(await jetstreamManager(connection));
      } catch (error) {
        if (error instanceof ClusterRefusal || !(error instanceof Error)) throw error;
        if (attempts === ATTEMPTS) throw unusable(address, error);
        await sleep(RECONNECT_MS);
      }
    }
  } finally {
    await connection.close();
  }
}

function unusable({ stream }: StreamAddress, cause: Error): Error {
  return new Error(
    `The stream "${stream}" can be neither read nor made now: ${cause.message}. Most of the servers have to run, with JetStream on.`,
    { cause },
  );
}

async function createStream(
  manager: JetStreamManager,
  { servers, stream }: StreamAddress,
  { name, beginning }: ContinuedLog,
): Promise<void> {
  await manager.streams.add({
    name: stream,
    subjects: [`${stream}.>`],
    storage: StorageType.File,
    num_replicas: replicasFor(servers),
    discard: DiscardPolicy.New,
    max_msgs: -1,
    max_bytes: -1,
    max_age: 0,
    deny_purge: true,
    metadata: {
      [LOG_NAME]: name,
      [STREAM_ID]: randomBytes(8).toString('hex'),
      [BEGINNING]: JSON.stringify(beginning),
    },
  });
}
