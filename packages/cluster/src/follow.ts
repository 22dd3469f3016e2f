/** Runs in the thread of the stream: publishes what visitors say here, and has the replica apply what the stream has. */
import { setTimeout as sleep } from 'node:timers/promises';

import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Orderer, Replica, ReplicaStart } from '@open-presence/gateway/replica';

import { Applier } from './applying/applier.ts';
import { compareCopies } from './applying/copy-comparison.ts';
import { measureLag } from './applying/copy-lag.ts';
import { MessageHandler } from './applying/message-handler.ts';
import { ReceivedUploads } from './applying/received-uploads.ts';
import { StreamEraser } from './applying/stream-eraser.ts';
import { CatchingUp } from './publishing/catching-up.ts';
import { DraftPublisher } from './publishing/draft-publisher.ts';
import { Publisher, type StreamClient } from './publishing/publisher.ts';
import { uploadSending } from './publishing/send-upload.ts';
import { WithholdingPublisher } from './publishing/withholding-publisher.ts';
import { checkLateServers } from './stream/check-servers.ts';
import { StoredMessages } from './stream/stored-messages.ts';
import { StreamReader } from './stream/stream-reader.ts';
import {
  connectToServers,
  readStream,
  subjectOf,
  uploadSubject,
  writeReadOnly,
} from './stream/stream.ts';

/** A copy with entries begins to serve without the servers once the stream has been silent for this long. */
const READY_WITHOUT_SERVERS_MS = 5000;

/** See `Cluster`. */
export async function follow(replica: Replica, start: ReplicaStart): Promise<Orderer> {
  const follower = new Follower(replica, start);
  await follower.ready();
  return follower;
}

class Follower implements Orderer {
  readonly ended: Promise<void>;
  readonly #replica: Replica;
  readonly #start: ReplicaStart;
  readonly #client = Promise.withResolvers<StreamClient>();
  readonly #publisher: Publisher;
  readonly #drafts: DraftPublisher;
  readonly #catchingUp: CatchingUp;
  readonly #withholdings: WithholdingPublisher;
  readonly #applier: Applier;
  readonly #reader: StreamReader;
  readonly #eraser = Promise.withResolvers<StreamEraser>();
  readonly #stored = Promise.withResolvers<StoredMessages>();
  readonly #caughtUp = Promise.withResolvers<void>();
  /** Resolves when the gateway first knows whether the stream takes messages. */
  readonly #tried = Promise.withResolvers<void>();
  /** Whether a server has settings by which it could lose what it acknowledges. */
  #isServerWrong = false;
  #isConnected = true;
  #connection: NatsConnection | undefined;
  /** How often this gateway has switched the cluster. An answer that was asked for before a switch may be out of date. */
  #switched = 0;
  #lastApplied: number;

  constructor(replica: Replica, start: ReplicaStart) {
    const { state, identity, stopping } = replica;
    const { address, position } = start;
    this.#replica = replica;
    this.#start = start;
    this.#lastApplied = position;
    state.streamHolding = true;
    state.completeAt = Date.now();
    using log = replica.reader();
    const uploads = new ReceivedUploads(replica.uploads, log.unusedUploadNames());
    this.#publisher = new Publisher(identity, this.#client.promise, subjectOf(address), (cause) =>
      this.#onHolding(cause),
    );
    this.#drafts = new DraftPublisher(
      this.#publisher,
      uploadSending(replica, this.#publisher, (name) => uploadSubject(address, name)),
    );
    this.#catchingUp = new CatchingUp(this.#publisher);
    this.#withholdings = new WithholdingPublisher(this.#publisher, async () => {
      await (await this.#eraser.promise).erased();
    });
    this.#applier = this.#applierOf(uploads);
    this.#reader = new StreamReader({
      start,
      handler: this.#handlerOf(uploads),
      publisher: this.#publisher,
      replica,
      onCaughtUp: () => this.#caughtUp.resolve(),
    });
    stopping.addEventListener('abort', () => {
      this.#catchingUp.giveUp();
      if (state.streamHolding) this.#drafts.giveUp();
    });
    this.ended = this.#run();
    void this.#checkLateServers();
  }

  async ready(): Promise<void> {
    const withServers = Promise.all([this.#caughtUp.promise, this.#tried.promise]);
    await Promise.race([withServers, this.#readyWithoutServers(withServers)]);
  }

  append(...[client, request]: Parameters<Orderer['append']>): void {
    if (this.#canStore) this.#drafts.add(client, request);
    else this.#drafts.refuse(client, request);
  }

  async withhold(...[cases]: Parameters<Orderer['withhold']>): ReturnType<Orderer['withhold']> {
    return this.#canStore ? await this.#withholdings.withhold(cases) : 'unavailable';
  }

  async catchUp(): Promise<boolean> {
    return this.#canStore && !this.#replica.stopping.aborted && (await this.#catchingUp.ask());
  }

  async setReadOnly(...[reason]: Parameters<Orderer['setReadOnly']>): Promise<boolean> {
    if (this.#connection === undefined || this.#publisher.isHolding) return false;
    try {
      const manager = await jetstreamManager(this.#connection, { checkAPI: false });
      await writeReadOnly(manager, this.#start.address, reason);
      this.#switched += 1;
      this.#replica.setReadOnly(reason);
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return false;
    }
  }

  get #canStore(): boolean {
    const { streamHolding, writable } = this.#replica.state;
    return !streamHolding && writable;
  }

  /** `cause`: why the stream takes no messages; undefined if it takes them. */
  #onHolding(cause: Error | undefined): void {
    this.#hold();
    this.#tried.resolve();
    this.#replica.report(
      'stream',
      cause && new Error(`the stream takes no messages: ${reasonOf(cause)}`),
    );
    if (cause === undefined) return;
    this.#catchingUp.giveUp();
    if (this.#replica.stopping.aborted) this.#drafts.giveUp();
  }

  async #checkLateServers(): Promise<void> {
    const { address, unchecked } = this.#start;
    const onFault = (fault: Error | undefined): void => {
      this.#isServerWrong = fault !== undefined;
      this.#hold();
      this.#replica.report('servers', fault);
    };
    await checkLateServers(unchecked, address.servers.length, onFault, this.#replica.signal);
  }

  /** Stores nothing while the stream takes no messages, or a server is wrong. */
  #hold(): void {
    this.#replica.state.streamHolding = this.#publisher.isHolding || this.#isServerWrong;
  }

  #applierOf(uploads: ReceivedUploads): Applier {
    return new Applier(this.#replica, {
      stream: () => this.#reader.streamId,
      resumeAt: (last) => uploads.resumeAt(last),
      onApplied: ({ publisher, number, position }, results) => {
        this.#lastApplied = position;
        if (publisher !== this.#publisher.id) return;
        this.#drafts.applied(number, results);
        this.#catchingUp.applied(number);
      },
      onFailed: () => this.#catchingUp.giveUp(),
    });
  }

  #handlerOf(uploads: ReceivedUploads): MessageHandler {
    const stored = this.#stored.promise;
    return new MessageHandler({
      position: this.#start.position,
      applier: this.#applier,
      uploads,
      publisher: this.#publisher,
      withholdings: this.#withholdings,
      async *chunksOf(upload) {
        yield* (await stored).chunksOf(upload);
      },
      replica: this.#replica,
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#replica;
    const connection = await connectToServers(this.#start.address, signal, (error) =>
      this.#onHolding(error),
    );
    signal.addEventListener('abort', () => void connection?.close());
    if (connection !== undefined) {
      this.#connection = connection;
      this.#client.resolve(this.#clientOf(connection));
      this.#publisher.probe();
      void this.#watchConnection(connection);
      void this.#replica.repeat('copies', () => this.#compareCopies(connection));
      void this.#replica.repeat('erasing', () => this.#eraseInStream(connection));
      void this.#watchLag(connection);
      await this.#reader.follow(connection);
    }
    this.#publisher.close();
  }

  /** Publishes nothing while there is no connection: NATS would collect every attempt in memory. */
  #clientOf(connection: NatsConnection): StreamClient {
    const stream = jetstream(connection);
    return {
      publish: async (subject, message, options) => {
        if (!this.#isConnected) throw new Error('The connection is lost.');
        return await stream.publish(subject, message, options);
      },
    };
  }

  async #watchConnection(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') this.#isConnected = true;
      if (type !== 'disconnect') continue;
      this.#isConnected = false;
      this.#publisher.suspect(new Error('The connection is lost.'));
    }
  }

  async #compareCopies(connection: NatsConnection): Promise<void> {
    const replica = this.#replica;
    using log = replica.reader();
    const copy = { publisher: this.#publisher.id, replica, log };
    await compareCopies(connection, this.#start.address, copy);
  }

  async #eraseInStream(connection: NatsConnection): Promise<void> {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const messages = new StoredMessages(connection, manager, this.#start.address);
    this.#stored.resolve(messages);
    using log = this.#replica.reader();
    const eraser = new StreamEraser({ messages, log, replica: this.#replica });
    this.#eraser.resolve(eraser);
    await eraser.run(this.#replica.signal);
  }

  async #watchLag(connection: NatsConnection): Promise<void> {
    const { state, signal } = this.#replica;
    const lastOfStream = async (): Promise<number> => {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const switched = this.#switched;
      const read = await readStream(manager, this.#start.address).catch((error: unknown) => {
        this.#publisher.probe();
        // None answers for it: it has no majority of its servers.
        state.missingServers = Math.ceil(this.#start.address.servers.length / 2);
        throw error;
      });
      // Where nobody says anything, nothing else would tell that nothing can be stored.
      if (!read.isLed) this.#publisher.probe();
      this.#reader.seen(read);
      const { lastSeq, readOnly, missingServers } = read;
      state.missingServers = missingServers;
      if (switched === this.#switched) this.#replica.setReadOnly(readOnly);
      return lastSeq;
    };
    const applied = (): number =>
      this.#applier.isIdle ? this.#reader.position : this.#lastApplied;
    await measureLag({ lastOfStream, applied }, state, signal);
  }

  async #readyWithoutServers(withServers: Promise<unknown>): Promise<void> {
    if (this.#start.position === 0) await withServers;
    for (let last: number | undefined; last !== this.#reader.position;) {
      last = this.#reader.position;
      await sleep(READY_WITHOUT_SERVERS_MS, undefined, { ref: false });
    }
  }
}

/** If nobody answers for a stream, the client says that JetStream is off, whatever the reason is. */
function reasonOf({ message }: Error): string {
  return /jetstream is not enabled/i.test(message)
    ? 'no server leads it now, or it was removed. Most of them have to run, with JetStream on and room on their disks'
    : message;
}
