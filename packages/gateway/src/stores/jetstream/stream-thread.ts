/**
 * The stream's thread: publishes what the gateway's threads append, reads the stream in its order, and
 * has the writer's thread apply it. A draft is answered once this copy has it.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';

import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

import { assertStorageFault, causeOf, isStorageFault, StorageFault } from '../../storage-fault.ts';
import { isSpoiled, openForReading } from '../sqlite/database.ts';
import type { ToWriter } from '../sqlite/log/batch.ts';
import { BlockReader } from '../sqlite/log/block-reader.ts';
import type { CatchUpRequest, CatchUpResponse } from '../sqlite/log/catch-up.ts';
import { FileSpool } from '../sqlite/log/file-spool.ts';
import { discardUpload } from '../sqlite/log/large-files.ts';
import { unusedUploadNames } from '../sqlite/log/stream-messages.ts';
import { UploadThreads } from '../sqlite/log/upload-threads.ts';
import type { WithholdRequest } from '../sqlite/log/withhold-client.ts';
import { type StorePart, StoreThread } from '../sqlite/store-thread.ts';
import { Applier } from './applier.ts';
import { CatchingUp } from './catching-up.ts';
import { type ComparedCopy, CopyComparison } from './copy-comparison.ts';
import type { StreamThreadStart } from './cluster-log.ts';
import { measureLag } from './copy-lag.ts';
import { DraftPublisher } from './draft-publisher.ts';
import { gatewayIdentity } from './gateway-identity.ts';
import { checkLateServers } from './late-servers.ts';
import { MessageHandler } from './message-handler.ts';
import { Publisher, type StreamClient } from './publisher.ts';
import { ReceivedUploads } from './received-uploads.ts';
import { sendUpload } from './send-upload.ts';
import { StreamReader } from './stream-reader.ts';
import { StoredMessages } from './stored-messages.ts';
import { StreamEraser } from './stream-eraser.ts';
import { connectToServers, subjectOf, uploadSubject } from './stream.ts';
import { WithholdingPublisher } from './withholding-publisher.ts';

type FromClient = ToWriter | WithholdRequest | CatchUpRequest;

/** A copy that has entries serves them without the servers, if nothing has come of the stream for so long. */
const READY_WITHOUT_SERVERS_MS = 5000;
const RETRY_MS = 500;

const { address, logName, stream, position, resumeAt, unchecked, writer } = (
  workerData as { readonly extra: StreamThreadStart }
).extra;
const thread = new StoreThread();
const { paths, shared } = thread;
shared.streamHolding = true;
shared.completeAt = Date.now();
const uploadThreads = new UploadThreads(shared);
const uploads = new ReceivedUploads(paths, uploadThreads, readUnused());
/** Whether a server could lose what it acknowledges. */
let isServerWrong = false;
const client = Promise.withResolvers<StreamClient>();
const publisher = new Publisher(
  gatewayIdentity(paths),
  client.promise,
  subjectOf(address),
  (cause) => {
    hold();
    tried.resolve();
    const fault = cause && new StorageFault(`the stream takes no messages: ${reasonOf(cause)}`);
    thread.report('stream', fault && causeOf(fault));
    if (cause !== undefined) catchingUp.giveUp();
    if (cause !== undefined && thread.stopping.aborted) drafts.giveUp();
  },
);
const spools = new Set<FileSpool>();
const reportUploads = reportAs('uploads');
const drafts = new DraftPublisher(publisher, {
  async spool(body) {
    const spool = new FileSpool(paths, uploadThreads, spools, reportUploads);
    await spool.write(body);
    return await spool.seal();
  },
  send: (large) =>
    reportingUploads(() =>
      sendUpload(paths, publisher, { large, subject: uploadSubject(address, large.name) }),
    ),
  // The next start removes what is left.
  discard: ({ name }) => void reportingUploads(() => discardUpload(paths, name)),
});
const catchingUp = new CatchingUp(publisher);
const eraser = Promise.withResolvers<StreamEraser>();
const stored = Promise.withResolvers<StoredMessages>();
const withholdings = new WithholdingPublisher(publisher, async () => {
  await (await eraser.promise).erased();
});
let lastApplied = position;
const applier = new Applier(writer, {
  stream: () => reader.streamId,
  resumeAt: (last) => uploads.resumeAt(last),
  onApplied({ publisher: id, number, position: at }, results) {
    lastApplied = at;
    if (id !== publisher.id) return;
    drafts.applied(number, results);
    catchingUp.applied(number);
  },
  onFailed: () => catchingUp.giveUp(),
  onErased: (at, count) => withholdings.erased(at, count),
});
/** Whether the servers can be reached now. */
let isConnected = true;
const caughtUp = Promise.withResolvers<void>();
/** Resolves when it is known for the first time whether the stream takes messages. */
const tried = Promise.withResolvers<void>();
const reader = new StreamReader({
  address,
  logName,
  stream,
  position,
  resumeAt,
  handler: new MessageHandler({
    position,
    applier,
    uploads,
    publisher,
    onWithholding: (number, at) => withholdings.came(number, at),
    onRefused: (number) => withholdings.refused(number),
    async *chunksOf(upload) {
      yield* (await stored.promise).chunksOf(upload);
    },
    onOutcome: reportUploads,
    signal: thread.signal,
  }),
  publisher,
  signal: thread.signal,
  onCaughtUp: () => caughtUp.resolve(),
});

thread.stopping.addEventListener('abort', () => {
  catchingUp.giveUp();
  if (shared.streamHolding) drafts.giveUp();
});
void run();
void checkLateServers(unchecked, address.servers.length, onServerFault, thread.signal);
const readyWithServers = Promise.all([caughtUp.promise, tried.promise]);
await Promise.race([readyWithServers, readyWithoutServers()]);
thread.serve((port) => {
  port.on('message', (message: FromClient) => receive(port, message));
});

function onServerFault(fault: Error | undefined): void {
  isServerWrong = fault !== undefined;
  hold();
  thread.report('servers', fault && causeOf(new StorageFault(fault.message, { cause: fault })));
}

/** Stores nothing while the stream takes no messages, or a server is wrong. */
function hold(): void {
  shared.streamHolding = publisher.isHolding || isServerWrong;
}

/** For what reports its outcome with or without a fault. */
function reportAs(part: StorePart): (fault?: Error) => void {
  return (fault) => thread.report(part, fault && causeOf(fault));
}

/** Resolves also where a disk or a file is at fault. */
async function reportingUploads(work: () => Promise<void>): Promise<void> {
  try {
    await work();
    reportUploads();
  } catch (error) {
    assertStorageFault(error);
    reportUploads(error);
  }
}

function readUnused(): string[] {
  using log = openForReading(paths.log, 256);
  return [...unusedUploadNames(log)];
}

/** Where nobody answers for a stream, the client says that JetStream is off, whatever the reason. */
function reasonOf({ message }: Error): string {
  return /jetstream is not enabled/i.test(message)
    ? 'no server leads it now. Most of them have to run, with JetStream on and room on their disks'
    : message;
}

/** Until the store closes. */
async function run(): Promise<void> {
  const connection = await connectToServers(address, thread.signal);
  thread.signal.addEventListener('abort', () => void connection?.close());
  if (connection !== undefined) {
    client.resolve(clientOf(connection));
    publisher.probe();
    void watchConnection(connection);
    void thread.repeat(() => compareCopies(connection), reportAs('copies'));
    void thread.repeat(() => eraseInStream(connection), reportAs('erasing'));
    void watchLag(connection);
    await reader.follow(connection);
  }
  publisher.close();
  writer.close();
  thread.close();
}

/** Publishes nothing while there is no connection: NATS would collect every attempt in memory. */
function clientOf(connection: NatsConnection): StreamClient {
  const stream = jetstream(connection);
  return {
    async publish(subject, message, options) {
      if (!isConnected) throw new Error('The connection is lost.');
      return await stream.publish(subject, message, options);
    },
  };
}

async function watchConnection(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'reconnect') isConnected = true;
    if (type !== 'disconnect') continue;
    isConnected = false;
    publisher.suspect(new Error('The connection is lost.'));
  }
}

/** Throws where this copy is not what most gateways have: readers of it are told what is not so. */
async function compareCopies(connection: NatsConnection): Promise<void> {
  using log = openForReading(paths.log, 256);
  const blocks = new BlockReader(log);
  const copy: ComparedCopy = {
    publisher: publisher.id,
    head: () => shared.head,
    linkAt: (seq) => (seq === 0 ? undefined : unlessFault(() => blocks.linkAt(seq))),
  };
  await new CopyComparison(connection, address, copy, reportAs('copies')).run(thread.signal);
}

/** Where the copy cannot be read now, there is nothing to compare. */
function unlessFault(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error) || isStorageFault(error)) return undefined;
    throw error;
  }
}

async function eraseInStream(connection: NatsConnection): Promise<void> {
  const manager = await managerOf(connection);
  if (manager === undefined) return;
  const messages = new StoredMessages(connection, manager, address);
  stored.resolve(messages);
  using log = openForReading(paths.log, 256);
  const streamEraser = new StreamEraser({
    messages,
    log,
    onErased: (erased) => writer.postMessage(erased),
    onOutcome: (fault) =>
      thread.report('erasing', fault && causeOf(new StorageFault(fault.message, { cause: fault }))),
  });
  eraser.resolve(streamEraser);
  await streamEraser.run(thread.signal);
}

/** Keeps trying until the servers answer; undefined if aborted. */
async function managerOf(connection: NatsConnection): Promise<JetStreamManager | undefined> {
  while (!thread.signal.aborted) {
    try {
      return await jetstreamManager(connection);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      await sleep(RETRY_MS);
    }
  }
  return undefined;
}

async function watchLag(connection: NatsConnection): Promise<void> {
  const lastOfStream = async (): Promise<number> => {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    return (await manager.streams.info(address.stream)).state.last_seq;
  };
  const applied = (): number => (applier.isIdle ? reader.position : lastApplied);
  await measureLag({ lastOfStream, applied }, shared, thread.signal);
}

async function readyWithoutServers(): Promise<void> {
  if (position === 0) await readyWithServers;
  for (let last: number | undefined; last !== reader.position;) {
    last = reader.position;
    await sleep(READY_WITHOUT_SERVERS_MS, undefined, { ref: false });
  }
}

function receive(port: MessagePort, message: FromClient): void {
  const canStore = !shared.streamHolding && shared.writable;
  if ('uploadFault' in message) {
    writer.postMessage(message);
  } else if ('drafts' in message) {
    if (canStore) drafts.add(port, message);
    else drafts.refuse(port, message);
  } else if ('catchUp' in message) {
    if (canStore && !thread.stopping.aborted) catchingUp.add(port, message);
    else port.postMessage({ caughtUp: message.catchUp, isKnown: false } satisfies CatchUpResponse);
  } else if (canStore) {
    withholdings.add(port, message);
  } else {
    withholdings.refuse(port, message);
  }
}
