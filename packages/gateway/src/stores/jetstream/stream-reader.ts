/**
 * Reads the stream in its order, from where this copy stands, for as long as the gateway runs. Decides
 * what becomes of each message: chunks are written to the folder of uploads, all else is applied.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { DeliverPolicy, jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

import { assertStorageFault } from '../../storage-fault.ts';
import { type LargeBody, packDrafts, unpackDrafts } from '../sqlite/log/batch.ts';
import type { DraftForm, RefusedForm } from '../sqlite/log/draft-form.ts';
import { isVoid } from '../sqlite/log/stream-progress.ts';
import type { Applier } from './applier.ts';
import { ClusterRefusal } from './check-servers.ts';
import { placeMessage, type PlacedMessage, unpackChunk } from './message.ts';
import type { Publisher } from './publisher.ts';
import type { ReceivedUploads } from './received-uploads.ts';
import { unpackReplacement } from './replacement.ts';
import { StoredMessages } from './stored-messages.ts';
import type { StreamAddress } from './stream-address.ts';
import { readStream } from './stream.ts';
import { unpackWithholding } from './withholding-message.ts';

const RETRY_MS = 500;
const SILENCE_MS = 5000;
/** Of each request for messages: its heartbeats come at half of it. */
const EXPIRES_MS = 10_000;
/** Bytes of messages that the servers send ahead. */
const MAX_AHEAD = 4 * 1024 * 1024;
const MISSING_ATTEMPTS = 20;

interface StreamReaderParts {
  readonly address: StreamAddress;
  readonly logName: string;
  /** What this copy had applied at the start, and where to read on from. */
  readonly position: number;
  readonly resumeAt: number;
  readonly applier: Applier;
  readonly uploads: ReceivedUploads;
  readonly publisher: Publisher;
  readonly signal: AbortSignal;
  /** Called when everything that the stream had at the start is added to the applier. */
  readonly onCaughtUp: () => void;
  /** Called with the position of a withholding of this gateway before it is applied. */
  readonly onWithholding: (number: number, position: number) => void;
  /** Called where no copy applies a message of this gateway, because it is void. */
  readonly onRefused: (number: number) => void;
}

export class StreamReader {
  readonly #parts: StreamReaderParts;
  /** The last message that was seen to. */
  #last: number;
  /** The newest message of the stream when it was asked last. */
  #lastOfStream = Number.POSITIVE_INFINITY;

  /** How often nothing was found in the place of a message that is not there. */
  #missing = 0;

  constructor(parts: StreamReaderParts) {
    this.#parts = parts;
    this.#last = parts.resumeAt - 1;
  }

  /** The last message that was seen to; what it has is with the applier. */
  get position(): number {
    return this.#last;
  }

  /** Throws where the stream is not the one that this copy has followed. */
  async follow(connection: NatsConnection): Promise<void> {
    const { signal } = this.#parts;
    while (!signal.aborted) {
      try {
        await this.#check(connection);
        await this.#consume(connection);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FaultOfCopy) throw error.cause;
        if (error instanceof WrongStream || error instanceof ClusterRefusal) throw error;
        // What the servers cannot do now, they may do later.
      }
      await sleep(RETRY_MS);
    }
  }

  async #check(connection: NatsConnection): Promise<void> {
    const { address, logName, position } = this.#parts;
    const state = await readStream(await jetstreamManager(connection), address);
    const name = `The stream "${address.stream}"`;
    if (state.logName !== logName)
      throw new WrongStream(`${name} orders another log: ${state.logName}, not ${logName}.`);
    if (state.lastSeq < Math.max(position, this.#last))
      throw new WrongStream(`${name} has lost messages that this copy has applied.`);
    this.#lastOfStream = state.lastSeq;
    this.#reportProgress();
  }

  async #consume(connection: NatsConnection): Promise<void> {
    const { address, signal } = this.#parts;
    const erased = new StoredMessages(connection, await jetstreamManager(connection), address);
    const consumer = await jetstream(connection).consumers.get(address.stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#last + 1,
    });
    const messages = await consumer.consume({ max_bytes: MAX_AHEAD, expires: EXPIRES_MS });
    const stop = (): void => messages.stop();
    const watchdog = this.#watch(stop);
    signal.addEventListener('abort', stop);
    try {
      for await (const message of messages) {
        if (signal.aborted) return;
        await this.#handle(message, erased);
        this.#last = message.seq;
        this.#reportProgress();
      }
    } finally {
      clearInterval(watchdog);
      signal.removeEventListener('abort', stop);
      messages.stop();
    }
  }

  /** A consumer whose server was killed may be silent for long: it is made again where messages are missing. */
  #watch(onSilence: () => void): NodeJS.Timeout {
    let seen = this.#last;
    return setInterval(() => {
      if (this.#last === seen && this.#parts.publisher.acknowledged > seen) onSilence();
      seen = this.#last;
    }, SILENCE_MS);
  }

  #reportProgress(): void {
    if (this.#last >= this.#lastOfStream) this.#parts.onCaughtUp();
  }

  /** Handles the message, and before it what is left of those that are deleted before it. */
  async #handle(message: JsMsg, erased: StoredMessages): Promise<void> {
    while (this.#last + 1 < message.seq) {
      await this.#handleErased(this.#last + 1, erased);
      this.#last += 1;
    }
    await orFault(() => this.#handlePlaced(placeMessage(message)));
  }

  async #handleErased(position: number, erased: StoredMessages): Promise<void> {
    const found = await erased.replacementOf(position);
    if (found === undefined) {
      this.#missing += 1;
      // A server that leads the stream since a moment ago may not have it yet.
      if (this.#missing < MISSING_ATTEMPTS) throw new Error(`Nothing is left of ${position}.`);
      throw new WrongStream(
        `The stream "${this.#parts.address.stream}" has lost message ${position}, which this copy lacks.`,
      );
    }
    this.#missing = 0;
    const { kind, time, drafts, forms } = unpackReplacement(found.payload);
    const left = { ...found, kind, position, time, payload: new Uint8Array(packDrafts(drafts)) };
    await orFault(() => this.#handlePlaced(left, forms));
  }

  async #handlePlaced(message: PlacedMessage, forms?: readonly DraftForm[]): Promise<void> {
    const { publisher, uploads } = this.#parts;
    // It was read where the message was that it replaces.
    if (message.kind === 'replacement') return;
    const isOwn = message.publisher === publisher.id;
    if (isOwn) publisher.settle(message.number);
    for (const name of uploads.abandonedBy(message)) await untilStored(() => uploads.discard(name));
    for (const form of forms ?? []) {
      const upload = 'upload' in form ? form.upload : undefined;
      if (upload !== undefined) await untilStored(() => uploads.remove(upload));
    }
    if (message.kind === 'chunk') await this.#receiveChunk(message, isOwn);
    else await this.#apply(message, isOwn, forms);
  }

  async #receiveChunk(message: PlacedMessage, isOwn: boolean): Promise<void> {
    const { uploads } = this.#parts;
    // Of one that is erased, nothing is left.
    if (message.payload.length === 0) return;
    const chunk = unpackChunk(message.payload);
    if (isVoid(message.time, message)) {
      await untilStored(() => uploads.discard(chunk.name));
      return;
    }
    uploads.add(message, chunk);
    if (!isOwn) await untilStored(() => uploads.write(chunk));
  }

  async #apply(
    message: PlacedMessage,
    isOwn: boolean,
    given?: readonly DraftForm[],
  ): Promise<void> {
    const { applier, position: start } = this.#parts;
    const isApplied = message.position <= start;
    const isRefused = isVoid(message.time, message);
    const packed = message.kind === 'drafts' ? message.payload : new Uint8Array(0);
    const drafts = new Uint8Array(packed).buffer;
    const isDiscarded = isApplied || isRefused;
    const forms: (DraftForm | RefusedForm | undefined)[] = [];
    for (const [index, { large }] of unpackDrafts(drafts).entries()) {
      const isWhole =
        large === undefined ||
        (await this.#placeUpload(large, message.position, { isOwn, isDiscarded }));
      forms.push(isWhole ? given?.[index] : { isRefused: true });
    }
    if (isApplied) return;
    if (isRefused && isOwn) this.#parts.onRefused(message.number);
    if (message.kind === 'withhold' && !isRefused) {
      if (isOwn) this.#parts.onWithholding(message.number, message.position);
      await applier.withhold(unpackWithholding(message));
    }
    const { position, time, nonce, publisher, number, settled, sent } = message;
    await applier.add({ position, time, nonce, publisher, number, settled, sent, drafts, forms });
  }

  /** Returns false where the stream has not the whole body. */
  async #placeUpload(
    large: LargeBody,
    position: number,
    { isOwn, isDiscarded }: { readonly isOwn: boolean; readonly isDiscarded: boolean },
  ): Promise<boolean> {
    const { uploads } = this.#parts;
    if (isDiscarded) {
      await untilStored(() => uploads.discard(large.name));
      return true;
    }
    if (!uploads.isWhole(large)) {
      await untilStored(() => uploads.refuse(large.name));
      return false;
    }
    if (!isOwn) await untilStored(() => uploads.place(large));
    uploads.completed(large.name, position);
    return true;
  }
}

/** The stream is not the one that this copy has followed: going on would make another log. */
class WrongStream extends Error {}

/** A fault of this copy rather than of the servers: it ends the thread. */
class FaultOfCopy extends Error {}

async function orFault(work: () => Promise<void>): Promise<void> {
  await work().catch((cause: unknown) => {
    throw new FaultOfCopy('A message cannot be applied.', { cause });
  });
}

/** What the disk refuses is tried again: the other copies have it. */
async function untilStored(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      assertStorageFault(error);
      await sleep(RETRY_MS);
    }
  }
}
