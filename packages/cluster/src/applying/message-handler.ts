/** Handles each message of the stream: writes chunks to the folder of uploads, and has all others applied. */
import { setTimeout as sleep } from 'node:timers/promises';

import {
  assertStorageFault,
  type DraftForm,
  isVoid,
  type LargeBody,
  packDrafts,
  type RefusedForm,
  type Replica,
  StorageFault,
  unpackDrafts,
} from '@open-presence/gateway/replica';

import type { Publisher } from '../publishing/publisher.ts';
import type { WithholdingPublisher } from '../publishing/withholding-publisher.ts';
import {
  type Chunk,
  LISTING,
  type PlacedMessage,
  unpackChunk,
  unpackCases,
} from '../stream/message.ts';
import { unpackReplacement } from '../stream/replacement.ts';
import type { Applier } from './applier.ts';
import type { ReceivedUploads } from './received-uploads.ts';

const RETRY_MS = 500;

export interface MessageHandlerParts {
  /** The last message that this copy had applied at the start. */
  readonly position: number;
  readonly applier: Applier;
  readonly uploads: ReceivedUploads;
  readonly publisher: Publisher;
  readonly withholdings: WithholdingPublisher;
  /** Reads the messages with the chunks of an upload from the stream. */
  readonly chunksOf: (upload: string) => AsyncIterable<PlacedMessage>;
  /** Has the files of uploads, and is told whether they can be changed now. */
  readonly replica: Pick<Replica, 'uploads' | 'report' | 'signal'>;
}

/** The caller passes messages in their order, each after the previous call has resolved. */
export class MessageHandler {
  readonly #parts: MessageHandlerParts;

  constructor(parts: MessageHandlerParts) {
    this.#parts = parts;
  }

  /** Handles the replacement of the deleted message at the position. */
  async handleErased(position: number, replacement: PlacedMessage): Promise<void> {
    const { kind, time, drafts, forms, upload } = unpackReplacement(replacement.payload);
    if (upload !== undefined) await this.#untilStored(() => this.#parts.uploads.giveUp(upload));
    const payload = new Uint8Array(packDrafts(drafts));
    await this.handle({ ...replacement, kind, position, time, payload }, forms);
  }

  /** `forms`: those of the drafts of an erased message. */
  async handle(message: PlacedMessage, forms?: readonly DraftForm[]): Promise<void> {
    const { publisher, uploads } = this.#parts;
    // It was read already, at the position of the message that it replaces.
    if (message.kind === 'replacement') return;
    const isOwn = message.publisher === publisher.id;
    if (isOwn) publisher.settle(message.number);
    for (const name of uploads.abandonedBy(message))
      await this.#untilStored(() => uploads.giveUp(name));
    for (const form of forms ?? []) {
      const upload = 'upload' in form ? form.upload : undefined;
      if (upload !== undefined) await this.#untilStored(() => uploads.remove(upload));
    }
    if (message.kind === 'chunk') await this.#receiveChunk(message, isOwn);
    else await this.#apply(message, isOwn, forms);
  }

  async #receiveChunk(message: PlacedMessage, isOwn: boolean): Promise<void> {
    const { uploads } = this.#parts;
    // An erased chunk.
    if (message.payload.length === 0) return;
    const chunk = unpackChunk(message.payload);
    if (chunk === undefined) return;
    if (isVoid(message.time, message)) {
      await this.#untilStored(() => uploads.giveUp(chunk.name));
      return;
    }
    uploads.add(message, chunk);
    if (!isOwn && !uploads.isUnused(chunk.name)) await this.#untilStored(() => this.#write(chunk));
  }

  async #apply(
    message: PlacedMessage,
    isOwn: boolean,
    given?: readonly DraftForm[],
  ): Promise<void> {
    const { applier, uploads, position: start } = this.#parts;
    const isApplied = message.position <= start;
    const isRefused = isVoid(message.time, message);
    const packed = message.kind === 'drafts' ? message.payload : new Uint8Array(0);
    const drafts = new Uint8Array(packed).buffer;
    const forms: (DraftForm | RefusedForm | undefined)[] = [];
    for (const [index, { large }] of unpackDrafts(drafts).entries()) {
      const isWhole =
        large === undefined ||
        (await this.#placeUpload(large, message.position, { isOwn, isApplied, isRefused }));
      forms.push(isWhole ? given?.[index] : { isRefused: true });
    }
    if (isApplied) return;
    if (LISTING.includes(message.kind)) {
      const decided = isRefused ? undefined : await applier.withhold(unpackCases(message));
      if (isOwn) this.#parts.withholdings.decided(message.number, decided?.erased);
    }
    const { position, time, nonce, publisher, number, settled, sent } = message;
    const origin = { publisher, number, settled, sent };
    const unusedUploads = uploads.takeUnused();
    await applier.add({ position, time, nonce, ...origin, drafts, forms, unusedUploads });
  }

  /** Returns false if the stream lacks a part of the body, or has another body. */
  async #placeUpload(
    large: LargeBody,
    position: number,
    { isOwn, isApplied, isRefused }: Readonly<Record<'isOwn' | 'isApplied' | 'isRefused', boolean>>,
  ): Promise<boolean> {
    const { uploads } = this.#parts;
    if (isApplied) {
      await this.#untilStored(() => uploads.discard(large.name));
      return true;
    }
    if (isRefused) {
      await this.#untilStored(() => uploads.refuse(large.name));
      return true;
    }
    if (!uploads.isWhole(large)) {
      await this.#untilStored(() => uploads.refuse(large.name));
      return false;
    }
    if (!isOwn) await this.#place(large);
    uploads.completed(large.name, position);
    return true;
  }

  async #place(large: LargeBody): Promise<void> {
    let isFirst = true;
    await this.#untilStored(async () => {
      if (!isFirst) await this.#receiveAgain(large.name);
      isFirst = false;
      await this.#parts.replica.uploads.place(large);
    });
  }

  async #receiveAgain(name: string): Promise<void> {
    for await (const { payload } of this.#chunksOf(name)) {
      const chunk = unpackChunk(payload);
      if (chunk !== undefined) await this.#write(chunk);
    }
  }

  async #write({ name, ...chunk }: Chunk): Promise<void> {
    await this.#parts.replica.uploads.write(name, chunk);
  }

  async *#chunksOf(name: string): AsyncGenerator<PlacedMessage> {
    try {
      yield* this.#parts.chunksOf(name);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw new StorageFault('An upload cannot be read from the stream.', { cause: error });
    }
  }

  /** Repeats the work while the disk fails: the other copies have the upload. */
  async #untilStored(work: () => Promise<void>): Promise<void> {
    const { replica } = this.#parts;
    for (;;) {
      try {
        await work();
        replica.report('uploads', undefined);
        return;
      } catch (error) {
        assertStorageFault(error);
        replica.report('uploads', error);
        await sleep(RETRY_MS, undefined, { signal: replica.signal });
      }
    }
  }
}
