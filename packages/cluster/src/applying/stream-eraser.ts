/**
 * Erases from the stream the text of withheld entries, and messages and uploads that made no entry. Every
 * gateway erases whatever its folder lists; it does not matter which gateway comes first. It publishes a
 * replacement and only then deletes the message, whose bytes the servers overwrite. Upholds that a copy
 * made from nothing afterwards has the same entries, seqs and links.
 *
 * Invariant: What was withheld is erased from the stream and from every copy.
 * Test: `test/cluster/erasing.test.ts` “what is withheld is erased from the stream”
 * Test: `packages/cluster/src/stream/replacement.test.ts` “makes the same entries, and has nothing
 *   of those that are withheld”
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Erasure, Replica, ReplicaReader } from '@open-presence/gateway/replica';

import type { PlacedMessage } from '../stream/message.ts';
import {
  emptyReplacement,
  type Replacement,
  replacementOf,
  unpackReplacement,
  withheldUploads,
  withoutWithheld,
} from '../stream/replacement.ts';
import type { MessageStore } from '../stream/stored-messages.ts';

/** How often the eraser reads the folder's list if nobody waits for it. */
const INTERVAL_MS = 10_000;
const RETRY_MS = 500;
const STEP_SIZE = 100;

interface StreamEraserParts {
  readonly messages: MessageStore;
  readonly log: ReplicaReader;
  /** Is told of the rows that are done, and of the outcome of each attempt. */
  readonly replica: Pick<Replica, 'format' | 'erasedInStream' | 'report'>;
}

export class StreamEraser {
  readonly #parts: StreamEraserParts;
  #waiting: (() => void)[] = [];
  #wake: () => void = () => {};
  /** The last rows that are done. */
  #doneMessage = 0;
  #doneUpload = 0;

  constructor(parts: StreamEraserParts) {
    this.#parts = parts;
  }

  /** Resolves when everything that the folder lists now is erased. */
  async erased(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#wake();
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { replica } = this.#parts;
    while (!signal.aborted) {
      const waiting = this.#waiting.splice(0);
      let pauseMs = INTERVAL_MS;
      try {
        while ((await this.#eraseMessages()) || (await this.#eraseUploads()));
        for (const resolve of waiting) resolve();
        replica.report('erasing', undefined);
      } catch (error) {
        // The servers may be unavailable, or another gateway may be erasing the same message: try again.
        if (!(error instanceof Error)) throw error;
        this.#waiting.unshift(...waiting);
        if (!signal.aborted) replica.report('erasing', error);
        pauseMs = RETRY_MS;
      }
      await this.#pause(pauseMs, signal);
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (ms === INTERVAL_MS && this.#waiting.length > 0) return;
    const either = AbortSignal.any([signal, woken.signal]);
    await sleep(ms, undefined, { signal: either }).catch(() => {});
  }

  /** Returns whether there may be more. */
  async #eraseMessages(): Promise<boolean> {
    const { log, replica } = this.#parts;
    const step = log.erasures(this.#doneMessage, STEP_SIZE);
    const messages = new Map(step.map((erasure) => [erasure.position, erasure]));
    for (const erasure of messages.values()) await this.#erase(erasure);
    const erasedMessages = step.map(({ number }) => number);
    if (step.length > 0) replica.erasedInStream({ erasedMessages, erasedUploads: [] });
    this.#doneMessage = erasedMessages.at(-1) ?? this.#doneMessage;
    return step.length > 0;
  }

  /** Erases one upload. Returns whether there may be more. */
  async #eraseUploads(): Promise<boolean> {
    const { log, messages, replica } = this.#parts;
    const [upload] = log.unusedUploads(this.#doneUpload, 1);
    if (upload === undefined) return false;
    const { number, name } = upload;
    if (!log.hasUpload(name)) {
      // The upload may have belonged to a withheld entry: erase its draft first.
      while (await this.#eraseMessages());
      for await (const chunk of messages.chunksOf(name)) await this.#clear(chunk, name);
    }
    replica.erasedInStream({ erasedMessages: [], erasedUploads: [number] });
    this.#doneUpload = number;
    return true;
  }

  async #erase(erasure: Erasure): Promise<void> {
    const { messages } = this.#parts;
    const { position } = erasure;
    const left = await this.#replace(erasure);
    if (left === undefined) return;
    // Before the chunks: no copy may find a draft in the stream whose chunks are gone.
    await messages.delete(position);
    for (const name of withheldUploads(left))
      for await (const chunk of messages.chunksOf(name)) await this.#clear(chunk);
    const newest = await messages.replacementOf(position);
    for await (const older of messages.replacementsOf(position)) {
      if (older.position >= (newest?.position ?? 0)) break;
      await this.#clear(older);
    }
  }

  /** Resolves with the replacement once the stream has it. Undefined if nothing of the message has to be erased. */
  async #replace({ position, first }: Erasure): Promise<Replacement | undefined> {
    const { messages, log, replica } = this.#parts;
    const { format } = replica;
    const last = await messages.replacementOf(position);
    const message = last ?? (await messages.at(position));
    if (message === undefined) throw new Error(`The stream has lost message ${position}.`);
    const before =
      last === undefined ? replacementOf(message, format) : unpackReplacement(last.payload);
    const repeats = log.repeats(position);
    const known = { first, repeats, withheld: (seq: number) => log.withheld(seq) };
    const left = withoutWithheld(before, known, format);
    if (left === undefined) return last && before;
    await messages.replace(position, last?.position ?? 0, { origin: message, left });
    return left;
  }

  /** Deletes a message that no copy needs. `upload`: the name, if it is a chunk of an upload that no draft uses. */
  async #clear(message: PlacedMessage, upload?: string): Promise<void> {
    const { messages } = this.#parts;
    const { position } = message;
    if ((await messages.replacementOf(position)) === undefined)
      await messages.replace(position, 0, {
        origin: message,
        left: emptyReplacement(message, upload),
      });
    await messages.delete(position);
  }
}
