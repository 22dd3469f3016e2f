/**
 * A read of texts that lets go of all but its position while its reader stalls, and reads on from
 * there. A few paused reads hold on to their pages, so that a reader who stalls for a moment only
 * does not cause a page to be read again.
 */
import { GatewayError } from '@open-presence/protocol';

import type { Log, ReadEnd, ReadPosition, Selection, TextRead } from './log.ts';

/** In each thread. */
const MAX_HOLDING = 2;
const holding = new Set<ResumableText>();
/** Resolves when the pages that were let go last are free. */
let released: Promise<void> = Promise.resolve();

export class ResumableText {
  readonly #log: Log;
  readonly #selection: Selection;
  readonly #joiner: ',\n' | '\n';
  #read: TextRead | undefined;
  #chunk: Uint8Array | undefined;
  /** What was given back of the last chunk. */
  #rest: Uint8Array | undefined;
  /** Where a new read would begin; the start, if undefined. */
  #position: ReadPosition | undefined;
  /** Bytes that were returned from `#position` on. */
  #returned = 0;
  /** Bytes of a new read that were returned already. */
  #skip = 0;
  /** The version of the log's damage: with another one, a new read may give other bytes. */
  #damage: number | undefined;

  constructor(log: Log, selection: Selection, joiner: ',\n' | '\n') {
    this.#log = log;
    this.#selection = selection;
    this.#joiner = joiner;
  }

  /** A chunk is valid until the next is requested. */
  async next(): Promise<IteratorResult<Uint8Array, ReadEnd>> {
    holding.delete(this);
    if (this.#read === undefined) await released;
    for (;;) {
      const step = await this.#step((this.#read ??= this.#start()));
      if (step.done === true) return step;
      const { length } = step.value;
      this.#returned += length;
      const skipped = Math.min(this.#skip, length);
      this.#skip -= skipped;
      if (skipped === length) continue;
      this.#chunk = step.value.subarray(skipped);
      return { done: false, value: this.#chunk };
    }
  }

  /**
   * Takes back the last `unsent` bytes of the last chunk, which are returned again: nothing of it is
   * used any more. Returns false if the read cannot be resumed there.
   */
  pause(unsent: number): boolean {
    const chunk = this.#chunk;
    if (chunk === undefined || this.#read?.position?.() === undefined) return false;
    this.#chunk = undefined;
    this.#rest = unsent === 0 ? undefined : chunk.subarray(chunk.length - unsent);
    this.#returned -= unsent;
    holding.add(this);
    const [longest] = holding;
    if (longest !== undefined && holding.size > MAX_HOLDING) released = longest.#release();
    return true;
  }

  async return(): Promise<void> {
    await this.#release();
  }

  async #release(): Promise<void> {
    holding.delete(this);
    const read = this.#read;
    this.#read = this.#chunk = this.#rest = undefined;
    await read?.return({ last: undefined, more: false });
  }

  #start(): TextRead {
    const { version } = this.#log.damage();
    if (version !== (this.#damage ??= version)) {
      throw new GatewayError(
        'unavailable',
        'Entries were damaged or repaired while they were read.',
      );
    }
    const { last, left = Number.POSITIVE_INFINITY } = this.#position ?? {};
    this.#skip = this.#returned;
    this.#returned = 0;
    if (last === undefined) return this.#log.readText(this.#selection, this.#joiner);
    this.#rest = Buffer.from(this.#joiner);
    const from = this.#selection.order === 'newest' ? { before: last } : { after: last };
    const limit = left === Number.POSITIVE_INFINITY ? {} : { limit: left };
    return this.#log.readText({ ...this.#selection, ...from, ...limit }, this.#joiner);
  }

  async #step(read: TextRead): Promise<IteratorResult<Uint8Array, ReadEnd>> {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) return { done: false, value: rest };
    const step = await read.next();
    if (step.done === true) {
      const { last = this.#position?.last, more } = step.value;
      return { done: true, value: { last, more } };
    }
    const position = read.position?.();
    if (position?.last !== undefined && position.last !== this.#position?.last) {
      this.#position = position;
      this.#returned = 0;
    }
    return step;
  }
}
