/** Reads the stream in its order from this copy's position on, for as long as the gateway runs. */
import { addAbortListener } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { DeliverPolicy, jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Replica, ReplicaStart } from '@open-presence/gateway/replica';

import type { MessageHandler } from '../applying/message-handler.ts';
import type { Publisher } from '../publishing/publisher.ts';
import { ClusterRefusal } from './check-servers.ts';
import { placeMessage } from './message.ts';
import { StoredMessages } from './stored-messages.ts';
import { readStream, type StreamState } from './stream.ts';

const RETRY_MS = 500;
/** How often the watchdog looks for missing messages, and how long they may be missing. */
const WATCH_MS = 1000;
const SILENCE_MS = 2000;
/** How long one request for messages lasts. The server sends two heartbeats in that time. */
const EXPIRES_MS = 10_000;
/** Bytes of messages that the servers may send ahead. */
const MAX_AHEAD = 4 * 1024 * 1024;
const MISSING_ATTEMPTS = 20;

interface StreamReaderParts {
  readonly start: ReplicaStart;
  readonly handler: MessageHandler;
  readonly publisher: Publisher;
  /** Is told, before reading, why no gateway stores anything. */
  readonly replica: Replica;
  /** Called once the applier has all that the stream had when it was last asked, and after each message since. */
  readonly onCaughtUp: () => void;
}

export class StreamReader {
  readonly #parts: StreamReaderParts;
  /** The last message that was handled. */
  #last: number;
  /** Empty until the stream was asked for the first time. */
  #streamId: string;
  /** The newest message of the stream when it was last asked. */
  #lastOfStream = Number.POSITIVE_INFINITY;

  /** Ends the reading of messages, so that the stream is checked again. */
  #stop = (): void => {};

  /** How often in a row a message and its replacement were both missing. */
  #missing = 0;

  constructor(parts: StreamReaderParts) {
    this.#parts = parts;
    this.#last = parts.start.resumeAt - 1;
    this.#streamId = parts.start.stream ?? '';
  }

  /** The last message that was handled. The applier may not have applied it yet. */
  get position(): number {
    return this.#last;
  }

  get streamId(): string {
    return this.#streamId;
  }

  /** A reader of a removed stream gets nothing more, and no fault, if one of its name was made since. */
  seen({ id }: StreamState): void {
    if (this.#streamId !== '' && id !== this.#streamId) this.#stop();
  }

  /** Reads until aborted. Throws if this is not the stream that the copy has followed, or a message cannot be understood. */
  async follow(connection: NatsConnection): Promise<void> {
    const { signal } = this.#parts.replica;
    while (!signal.aborted) {
      try {
        await this.#check(connection);
        await this.#consume(connection);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FaultOfCopy) throw error.cause;
        if (error instanceof WrongStream || error instanceof ClusterRefusal) throw error;
        // Any other error is one of the servers, which may pass.
      }
      await sleep(RETRY_MS);
    }
  }

  async #check(connection: NatsConnection): Promise<void> {
    const { address, logName, position } = this.#parts.start;
    const state = await readStream(await jetstreamManager(connection), address);
    const name = `The stream "${address.stream}"`;
    if (state.logName !== logName)
      throw new WrongStream(
        `${name} orders another log: ${state.logName}, not ${logName}. Name the stream of this one after the servers (--log nats://…/NAME), or start this gateway with an empty folder.`,
      );
    this.#streamId ||= state.id;
    if (state.id !== this.#streamId)
      throw new WrongStream(
        `${name} is not the one that this copy has followed: it was removed and made again. Start this gateway with an empty folder, or with one from a backup of a gateway that follows this stream.`,
      );
    if (state.lastSeq < Math.max(position, this.#last))
      throw new WrongStream(`${name} has lost messages that this copy has applied.`);
    this.#parts.replica.setReadOnly(state.readOnly);
    this.#lastOfStream = state.lastSeq;
    this.#reportProgress();
  }

  async #consume(connection: NatsConnection): Promise<void> {
    const { signal } = this.#parts.replica;
    const { address } = this.#parts.start;
    const erased = new StoredMessages(connection, await jetstreamManager(connection), address);
    const consumer = await jetstream(connection).consumers.get(address.stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#last + 1,
    });
    const messages = await consumer.consume({ max_bytes: MAX_AHEAD, expires: EXPIRES_MS });
    const stop = (): void => messages.stop();
    this.#stop = stop;
    using _watchdog = this.#watch(stop);
    using _aborting = addAbortListener(signal, stop);
    try {
      for await (const message of messages) {
        if (signal.aborted) return;
        await this.#handle(message, erased);
        this.#last = message.seq;
        this.#reportProgress();
      }
    } finally {
      stop();
    }
  }

  /** A consumer whose server was killed may stay silent for long. If messages are missing, it is made again. */
  #watch(onSilence: () => void): NodeJS.Timeout {
    let seen = this.#last;
    let silentMs = 0;
    return setInterval(() => {
      const isMissing = this.#last === seen && this.#parts.publisher.acknowledged > seen;
      silentMs = isMissing ? silentMs + WATCH_MS : 0;
      seen = this.#last;
      if (silentMs >= SILENCE_MS) onSilence();
    }, WATCH_MS);
  }

  #reportProgress(): void {
    if (this.#last >= this.#lastOfStream) this.#parts.onCaughtUp();
  }

  /** Handles the message, and first the replacements of deleted messages before it. */
  async #handle(message: JsMsg, erased: StoredMessages): Promise<void> {
    while (this.#last + 1 < message.seq) {
      await this.#handleErased(this.#last + 1, erased);
      this.#last += 1;
    }
    const placed = placeMessage(message);
    await orFault(() => this.#parts.handler.handle(placed));
  }

  async #handleErased(position: number, erased: StoredMessages): Promise<void> {
    const found = await erased.replacementOf(position);
    if (found === undefined) {
      this.#missing += 1;
      // A server that has just become the leader may not have the replacement yet.
      if (this.#missing < MISSING_ATTEMPTS) throw new Error(`Nothing is left of ${position}.`);
      throw new WrongStream(
        `The stream "${this.#parts.start.address.stream}" has lost message ${position}, which this copy lacks.`,
      );
    }
    this.#missing = 0;
    await orFault(() => this.#parts.handler.handleErased(position, found));
  }
}

/** The stream is not the one that this copy has followed. If it went on, it would make another log. */
class WrongStream extends Error {}

/** A fault of this copy, not of the servers: it ends the thread. */
class FaultOfCopy extends Error {}

async function orFault(work: () => Promise<void>): Promise<void> {
  await work().catch((cause: unknown) => {
    throw new FaultOfCopy('A message cannot be applied.', { cause });
  });
}
