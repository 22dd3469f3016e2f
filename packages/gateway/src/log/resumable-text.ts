/**
 * A read of texts that lets go of all but its place while its reader stalls, and reads on from there,
 * also if entries were withheld meanwhile. A few paused reads hold on to their pages, so that a reader who stalls for a moment only
 * does not cause a page to be read again.
 */
import { crc32 } from 'node:zlib';

import { GatewayError } from '@open-presence/protocol';

import { isStorageFault } from '../storage-fault.ts';
import type {
  ChainRange,
  Log,
  ReadEnd,
  ReadPosition,
  Selection,
  StoredEncoding,
  StoredText,
  TextRead,
} from './log.ts';
import { type Joiner, placeAt, placeAtEnd, placeAfter, type TextPlace } from './text-place.ts';

type Chunk = Uint8Array | StoredText;

/** A read of texts that can be started anew anywhere. */
export interface ResumableRead {
  /** What stands between two entries. */
  readonly joiner: Joiner;
  /** Differs once what was read before may be other bytes now. */
  version(): string;
  /** `isPlain`: without stored text. */
  start(from: ReadPosition, isPlain: boolean): TextRead<Chunk>;
}

export function selectedTexts(
  log: Log,
  selection: Selection,
  joiner: ',\n' | '\n',
  stored: StoredEncoding | undefined,
): ResumableRead {
  return {
    joiner,
    version: () => versionOf(log),
    start: (from, isPlain) =>
      log.readText(continued(selection, from), joiner, isPlain ? undefined : stored),
  };
}

function versionOf(log: Log): string {
  return `${log.withheld()}`;
}

export function chainLines(log: Log, range: ChainRange): ResumableRead {
  return {
    joiner: '',
    version: () => versionOf(log),
    start: (from) => log.readChain(continued({ ...range, order: 'oldest' }, from)),
  };
}

function continued<Range extends ChainRange & Pick<Selection, 'order'>>(
  range: Range,
  { last, left }: ReadPosition,
): Range {
  if (last === undefined) return range;
  const from = range.order === 'newest' ? { before: last } : { after: last };
  const limit = left === Number.POSITIVE_INFINITY ? {} : { limit: left };
  return { ...range, ...from, ...limit };
}

/** In each thread. */
const MAX_HOLDING = 2;
const holding = new Set<ResumableText>();
/** Resolves when the pages that were let go last are free. */
let released: Promise<void> = Promise.resolve();

const START = placeAt({ last: undefined, left: Number.POSITIVE_INFINITY });

export class ResumableText {
  readonly #source: ResumableRead;
  #read: TextRead<Chunk> | undefined;
  #start = START;
  /** As of the start of the read. */
  #version: string | undefined;
  /** The page of the read that the last chunk is of. */
  #page: ReadPosition | undefined;
  #chunk: Chunk | undefined;
  /** Where the last chunk begins, or ends after it was left. Undefined if no new read can begin. */
  #place: TextPlace | undefined = START;
  #next: Chunk[] = [];
  /** Bytes of a new read that were returned before, and the CRC-32 of those that were read again. */
  #skip = 0;
  #skippedSum = 0;
  /** Whether the first chunk of a new read has to be joined to what was returned. */
  #mustJoin = false;

  constructor(source: ResumableRead) {
    this.#source = source;
  }

  /** A chunk is valid until the next is requested. Throws where an entry cannot be continued. */
  async next(): Promise<IteratorResult<Chunk, ReadEnd>> {
    this.#leaveChunk();
    // What is held may have been withheld meanwhile.
    if (holding.delete(this) && this.#version !== this.#source.version()) await this.#release();
    if (this.#read === undefined) await released;
    for (;;) {
      const step = await this.#step();
      if (step.done === true) {
        if (this.#skip > 0) throw changedEntry();
        return step;
      }
      const chunk = this.#skip === 0 ? step.value : this.#withoutSkipped(step.value);
      if (chunk === undefined) continue;
      this.#chunk = chunk;
      return { done: false, value: chunk };
    }
  }

  /** Takes back the last `unsent` bytes of the last chunk. Returns false if the read cannot be resumed there. */
  pause(unsent: number): boolean {
    const chunk = this.#chunk;
    if (chunk === undefined) return false;
    const from = chunk.length - unsent;
    const place = this.#placeIn(chunk, from);
    if (place === undefined) return false;
    if (unsent === 0) this.#leaveChunk();
    else {
      this.#place = place;
      this.#chunk = undefined;
      this.#next.unshift(restOf(chunk, from));
    }
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
    this.#read = this.#chunk = undefined;
    // A new read gives the same entries again. The rest of a compressed part it cannot give.
    this.#next = this.#next.filter((chunk) => isBegun(chunk));
    await read?.return({ last: undefined, more: false });
  }

  #begin(): TextRead<Chunk> {
    this.#version = this.#source.version();
    const start = this.#place;
    if (start === undefined) throw new Error('A read of texts begins within an entry.');
    this.#start = start;
    this.#page = undefined;
    this.#skip = start.size;
    this.#skippedSum = 0;
    this.#mustJoin = start.position.last !== undefined && this.#source.joiner !== '';
    // Bytes can be left out of plain text only.
    return this.#source.start(start.position, start.size > 0);
  }

  async #step(): Promise<IteratorResult<Chunk, ReadEnd>> {
    const next = this.#next.shift();
    if (next !== undefined && (await this.#canGoOn(next))) return { done: false, value: next };
    const read = (this.#read ??= this.#begin());
    const step = await read.next();
    if (step.done === true) {
      const { last = this.#start.position.last, more } = step.value;
      return { done: true, value: { last, more } };
    }
    this.#enterPage(read.position?.());
    if (!this.#mustJoin) return step;
    this.#mustJoin = false;
    this.#next.push(step.value);
    return { done: false, value: Buffer.from(this.#source.joiner) };
  }

  /** Returns false where the chunk is plain text that has changed: a new read gives it. */
  async #canGoOn(chunk: Chunk): Promise<boolean> {
    if (chunk instanceof Uint8Array) return true;
    try {
      await chunk.verify();
      return true;
    } catch (error) {
      if (isBegun(chunk) || !isStorageFault(error)) throw error;
      await this.#release();
      return false;
    }
  }

  #enterPage(page: ReadPosition | undefined): void {
    const known = this.#page;
    this.#page = page;
    if (page === undefined) this.#place = undefined;
    else if (page.last !== known?.last || page.left !== known?.left) {
      const { last = this.#start.position.last, left } = page;
      this.#place = placeAt({ last, left });
    }
  }

  #withoutSkipped(chunk: Chunk): Chunk | undefined {
    // A read that leaves bytes out is plain.
    if (!(chunk instanceof Uint8Array)) throw changedEntry();
    const size = Math.min(this.#skip, chunk.length);
    const skipped = chunk.subarray(0, size);
    this.#skip -= size;
    this.#skippedSum = crc32(skipped, this.#skippedSum);
    if (this.#skip === 0 && this.#skippedSum !== this.#start.sum) throw changedEntry();
    this.#place &&= placeAfter(this.#place, skipped, this.#source.joiner);
    return size === chunk.length ? undefined : restOf(chunk, size);
  }

  /** Leaves the last chunk after the whole of it was sent. */
  #leaveChunk(): void {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    this.#chunk = undefined;
    if (!(chunk instanceof Uint8Array)) this.#place = placeAt(chunk.end);
    else if (this.#place !== undefined) {
      const { joiner } = this.#source;
      this.#place = placeAtEnd(placeAfter(this.#place, chunk, joiner), joiner);
    }
  }

  /** The place before byte `from` of the last chunk. In stored text, the place of its start. */
  #placeIn(chunk: Chunk, from: number): TextPlace | undefined {
    const place = this.#place;
    if (place === undefined || from === 0 || !(chunk instanceof Uint8Array)) return place;
    return placeAfter(place, chunk.subarray(0, from), this.#source.joiner);
  }
}

/** Whether it is the rest of a compressed part. */
function isBegun(chunk: Chunk): boolean {
  return !(chunk instanceof Uint8Array) && chunk.compressed.size === 0;
}

function changedEntry(): GatewayError {
  return new GatewayError(
    'unavailable',
    'An entry was withheld after the first part of it was sent.',
  );
}

/** What follows the first `from` bytes: the part that is counted has begun. */
function restOf(chunk: Chunk, from: number): Chunk {
  if (chunk instanceof Uint8Array) return chunk.subarray(from);
  if (from === 0) return chunk;
  return {
    ...chunk,
    length: chunk.length - from,
    compressed: { size: 0, crc: 0 },
    read: (target, at) => chunk.read(target, from + at),
  };
}
