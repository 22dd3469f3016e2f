/**
 * A read of texts that lets go of all but its position while its reader stalls, and reads on from
 * there. A few paused reads hold on to their pages, so that a reader who stalls for a moment only
 * does not cause a page to be read again.
 */
import { GatewayError } from '@open-presence/protocol';

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

type Chunk = Uint8Array | StoredText;

/** A read of texts that can be started anew anywhere. */
export interface ResumableRead {
  /** What stands between two entries. */
  readonly joiner: string;
  /** Differs once what was read before may be other bytes now. */
  version(): string;
  /** `isPlain`: without stored text that is compressed. */
  start(from: ReadPosition | undefined, isPlain: boolean): TextRead<Chunk>;
}

/** A read of the texts of a selection. */
export function selectedTexts(
  log: Log,
  selection: Selection,
  joiner: ',\n' | '\n',
  stored: StoredEncoding | 'plain',
): ResumableRead {
  return {
    joiner,
    version: () => versionOf(log),
    start: (from, isPlain) =>
      log.readText(continued(selection, from), joiner, isPlain ? 'plain' : stored),
  };
}

function versionOf(log: Log): string {
  return `${log.damage().version} ${log.withheld()}`;
}

/** A read of the entries of a range with their links. */
export function chainLines(log: Log, range: ChainRange): ResumableRead {
  return {
    joiner: '',
    version: () => versionOf(log),
    start: (from) => log.readChain(continued({ ...range, order: 'oldest' }, from)),
  };
}

function continued<Range extends ChainRange & Pick<Selection, 'order'>>(
  range: Range,
  { last, left = Number.POSITIVE_INFINITY }: Partial<ReadPosition> = {},
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

export class ResumableText {
  readonly #source: ResumableRead;
  #read: TextRead<Chunk> | undefined;
  #chunk: Chunk | undefined;
  /** Chunks to return before the read goes on. */
  #next: Chunk[] = [];
  /** Where a new read would begin; the start, if undefined. */
  #position: ReadPosition | undefined;
  /** Bytes that were returned from `#position` on. */
  #returned = 0;
  /** Bytes of a new read that were returned already. */
  #skip = 0;
  /** Whether the first chunk of a new read has to be joined to what was returned. */
  #mustJoin = false;
  /** As of the start of the read. */
  #version: string | undefined;

  constructor(source: ResumableRead) {
    this.#source = source;
  }

  /** A chunk is valid until the next is requested. */
  async next(): Promise<IteratorResult<Chunk, ReadEnd>> {
    // What is held may have been withheld meanwhile.
    if (holding.delete(this) && this.#version !== this.#source.version()) await this.#release();
    if (this.#read === undefined) await released;
    for (;;) {
      const step = await this.#step();
      if (step.done === true) return step;
      const { value } = step;
      const isStored = !(value instanceof Uint8Array);
      const { length } = value;
      const skipped = Math.min(this.#skip, length);
      this.#skip -= skipped;
      // Stored text is known, and needs no new read.
      if (isStored) this.#position = value.end;
      this.#returned = isStored ? 0 : this.#returned + length;
      if (skipped === length) continue;
      this.#chunk = isStored ? restOf(value, skipped) : value.subarray(skipped);
      return { done: false, value: this.#chunk };
    }
  }

  /**
   * Takes back the last `unsent` bytes of the last chunk, which are returned again: nothing of it is
   * used any more. Returns false if the read cannot be resumed there.
   */
  pause(unsent: number): boolean {
    const chunk = this.#chunk;
    if (chunk === undefined) return false;
    const isStored = !(chunk instanceof Uint8Array);
    if (!isStored && this.#read?.position?.() === undefined) return false;
    this.#chunk = undefined;
    if (unsent > 0) {
      const from = chunk.length - unsent;
      this.#next.unshift(isStored ? restOf(chunk, from) : chunk.subarray(from));
      if (!isStored) this.#returned -= unsent;
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
    // A new read gives the same bytes again.
    if (this.#next[0] instanceof Uint8Array) this.#next = [];
    await read?.return({ last: undefined, more: false });
  }

  #start(): TextRead<Chunk> {
    const version = this.#source.version();
    if (this.#returned > 0 && version !== this.#version) {
      throw new GatewayError(
        'unavailable',
        'Entries were damaged, repaired or withheld while they were read.',
      );
    }
    this.#version = version;
    this.#skip = this.#returned;
    this.#returned = 0;
    this.#mustJoin = this.#position?.last !== undefined && this.#source.joiner !== '';
    // Bytes can be left out of plain text only.
    return this.#source.start(this.#position, this.#skip > 0);
  }

  async #step(): Promise<IteratorResult<Chunk, ReadEnd>> {
    const next = this.#next.shift();
    if (next !== undefined) {
      if (!(next instanceof Uint8Array)) await next.verify();
      return { done: false, value: next };
    }
    const read = (this.#read ??= this.#start());
    const step = await read.next();
    if (step.done === true) {
      const { last = this.#position?.last, more } = step.value;
      return { done: true, value: { last, more } };
    }
    if (this.#mustJoin) {
      this.#mustJoin = false;
      this.#next.push(step.value);
      return { done: false, value: Buffer.from(this.#source.joiner) };
    }
    const position = read.position?.();
    if (position?.last !== undefined && position.last !== this.#position?.last) {
      this.#position = position;
      this.#returned = 0;
    }
    return step;
  }
}

/** What follows the first `from` bytes: the part that is counted has begun. */
function restOf(text: StoredText, from: number): StoredText {
  if (from === 0) return text;
  return {
    ...text,
    length: text.length - from,
    ...(text.compressed === undefined ? {} : { compressed: { size: 0, crc: 0 } }),
    read: (target, at) => text.read(target, from + at),
  };
}
