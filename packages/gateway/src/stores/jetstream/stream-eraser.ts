/**
 * Erases in the stream what withheld entries said, and what was said in messages that made no entry. Each
 * gateway sees to it that all is erased that its folder lists, whichever of them comes first: a
 * replacement is published, and only then the message deleted, whose bytes the servers overwrite.
 * Upholds that a copy that is made from nothing afterwards has the same entries, seqs and links.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ErasedMessages } from '../sqlite/log/ordered-batch.ts';
import { type Erasure, readErasures, readRepeats } from '../sqlite/log/stream-messages.ts';
import { withheldLookup } from '../sqlite/log/withheld-table.ts';
import type { PlacedMessage } from './message.ts';
import {
  emptyReplacement,
  type Replacement,
  replacementOf,
  unpackReplacement,
  withheldUploads,
  withoutWithheld,
} from './replacement.ts';
import type { StoredMessages } from './stored-messages.ts';
import type { StreamAddress } from './stream-address.ts';
import { erasedSubject, uploadSubject } from './stream.ts';

/** How often it is looked what other gateways have withheld. */
const INTERVAL_MS = 10_000;
const RETRY_MS = 500;
/** Rows that are read at once. */
const STEP_SIZE = 100;

interface StreamEraserParts {
  readonly address: StreamAddress;
  readonly messages: StoredMessages;
  /** The folder's log, for reading. */
  readonly log: DatabaseSync;
  /** Called with the rows of the folder that are done. */
  readonly onErased: (erased: ErasedMessages) => void;
  /** Called with a fault after an attempt that failed, and without after one that did not. */
  readonly onOutcome: (fault: Error | undefined) => void;
}

export class StreamEraser {
  readonly #parts: StreamEraserParts;
  #waiting: (() => void)[] = [];
  #wake: () => void = () => {};
  /** The last row that is done. */
  #done = 0;

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
    while (!signal.aborted) {
      const waiting = this.#waiting.splice(0);
      let pauseMs = INTERVAL_MS;
      try {
        while (await this.#step());
        for (const resolve of waiting) resolve();
        this.#parts.onOutcome(undefined);
      } catch (error) {
        // What the servers cannot do now, or another gateway does, is tried again.
        if (!(error instanceof Error)) throw error;
        this.#waiting.unshift(...waiting);
        if (!signal.aborted) this.#parts.onOutcome(error);
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
  async #step(): Promise<boolean> {
    const step = readErasures(this.#parts.log, this.#done, STEP_SIZE);
    const messages = new Map(step.map((erasure) => [erasure.position, erasure]));
    for (const erasure of messages.values()) await this.#erase(erasure);
    const erasedMessages = step.map(({ number }) => number);
    if (step.length > 0) this.#parts.onErased({ erasedMessages });
    this.#done = erasedMessages.at(-1) ?? this.#done;
    return step.length > 0;
  }

  async #erase(erasure: Erasure): Promise<void> {
    const { address, messages } = this.#parts;
    const { position } = erasure;
    const left = await this.#replace(erasure);
    if (left === undefined) return;
    for (const name of withheldUploads(left))
      for await (const chunk of messages.of(uploadSubject(address, name), 1))
        await this.#clear(chunk);
    await messages.delete(position);
    const newest = await messages.replacementOf(position);
    for await (const older of messages.of(erasedSubject(address, position), position)) {
      if (older.position >= (newest?.position ?? 0)) break;
      await this.#clear(older);
    }
  }

  /** What is left of the message, once that is in the stream; undefined where all of it is to stay. */
  async #replace({ position, first }: Erasure): Promise<Replacement | undefined> {
    const { messages, log } = this.#parts;
    const last = await messages.replacementOf(position);
    const message = last ?? (await messages.at(position));
    if (message === undefined) throw new Error(`The stream has lost message ${position}.`);
    const before = last === undefined ? replacementOf(message) : unpackReplacement(last.payload);
    const repeats = readRepeats(log, position);
    const left = withoutWithheld(before, { first, repeats, withheld: withheldLookup(log) });
    if (left === undefined) return last && before;
    await messages.replace(position, last?.position ?? 0, { origin: message, left });
    return left;
  }

  /** Deletes a message of which nothing is needed. */
  async #clear(message: PlacedMessage): Promise<void> {
    const { messages } = this.#parts;
    const { position } = message;
    if ((await messages.replacementOf(position)) === undefined)
      await messages.replace(position, 0, { origin: message, left: emptyReplacement(message) });
    await messages.delete(position);
  }
}
