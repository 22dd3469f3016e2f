/**
 * Which segments can be read, the fingerprints of their files, and the counts of rooms. Only their thread sets
 * these.
 */
import { crc32 } from 'node:zlib';

import type { RoomCount, Seq } from '../../log/log.ts';

const SEGMENT_SIZE: number = 2 ** 18;
/** Enough for 17 billion entries. In place of further segments, readers read the log. */
const MAX_SEGMENTS = 65_536;
/** As JSON. Memory that is not written is not taken. */
const MAX_COUNTS = 16 * 1024 * 1024;

/** The low bits of a generation; those above count the changes. */
const CHANGING = 1;
const SEALED = 2;
const MARKS = 2;

const SIZE = 0;
const COUNTS_VERSION = 1;
const COUNTS_LENGTH = 2;
const STATES = 4;
const CELLS = STATES + 2 * MAX_SEGMENTS;
export const SHARED_SEGMENTS_SIZE: number = 4 * CELLS + MAX_COUNTS;

/** The counts of all entries up to a seq. */
export interface CountsUntil {
  readonly until: Seq;
  readonly counts: readonly RoomCount[];
}

export interface SegmentState {
  /** Differs once the file has changed. Odd while it is being changed. */
  readonly generation: number;
  readonly isSealed: boolean;
  /** See `fingerprintOf`. */
  readonly fingerprint: number;
}

export class SharedSegments {
  readonly #cells: Int32Array;
  readonly #counts: Uint8Array;
  #known: CountsUntil & { readonly version: number } = { version: 0, until: 0, counts: [] };

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#cells = new Int32Array(memory, offset, CELLS);
    this.#counts = new Uint8Array(memory, offset + 4 * CELLS, MAX_COUNTS);
  }

  /** Seqs of a segment. Set once, before there are readers. */
  get size(): number {
    return this.#cells[SIZE] || SEGMENT_SIZE;
  }
  set size(seqs: number) {
    this.#cells[SIZE] = seqs;
  }

  numberOf(seq: Seq): number {
    return Math.floor((seq - 1) / this.size);
  }

  firstOf(number: number): Seq {
    return number * this.size + 1;
  }

  lastOf(number: number): Seq {
    return (number + 1) * this.size;
  }

  /** Undefined where the log has to be read in its place. */
  state(number: number): SegmentState | undefined {
    const generation = this.generation(number);
    const fingerprint = Atomics.load(this.#cells, STATES + 2 * number + 1);
    const isSealed = (generation & SEALED) !== 0;
    if (generation !== this.generation(number))
      return { generation: CHANGING, isSealed, fingerprint };
    return fingerprint === 0 ? undefined : { generation, isSealed, fingerprint };
  }

  generation(number: number): number {
    return number < MAX_SEGMENTS ? Atomics.load(this.#cells, STATES + 2 * number) : 0;
  }

  /** To be called before the file of a segment that can be read is changed. */
  change(number: number): void {
    if (number < MAX_SEGMENTS) Atomics.or(this.#cells, STATES + 2 * number, CHANGING);
  }

  /** The segment can be read as its file is now. */
  publish(number: number, fingerprint: number, mark: '' | 'sealed' = ''): void {
    this.#set(number, fingerprint, mark === 'sealed' ? SEALED : 0);
  }

  withdraw(number: number): void {
    this.#set(number, 0, 0);
  }

  /** The counts of entries, and the seq up to which they go. */
  get counts(): CountsUntil {
    for (;;) {
      const version = Atomics.load(this.#cells, COUNTS_VERSION);
      if (version === this.#known.version) return this.#known;
      const length = Atomics.load(this.#cells, COUNTS_LENGTH);
      const json = Buffer.from(this.#counts.subarray(0, length)).toString();
      if (version % 2 !== 0 || version !== Atomics.load(this.#cells, COUNTS_VERSION)) continue;
      this.#known = { ...(JSON.parse(json) as CountsUntil), version };
    }
  }
  set counts(counts: CountsUntil) {
    const json = Buffer.from(JSON.stringify(counts));
    Atomics.add(this.#cells, COUNTS_VERSION, 1);
    this.#counts.set(json);
    Atomics.store(this.#cells, COUNTS_LENGTH, json.length);
    Atomics.add(this.#cells, COUNTS_VERSION, 1);
  }

  #set(number: number, fingerprint: number, mark: number): void {
    if (number >= MAX_SEGMENTS) return;
    const at = STATES + 2 * number;
    const count = (Atomics.or(this.#cells, at, CHANGING) >> MARKS) + 1;
    Atomics.store(this.#cells, at + 1, fingerprint);
    Atomics.store(this.#cells, at, (count << MARKS) | mark);
  }
}

interface FileStats {
  readonly ino: number;
  readonly size: number;
  readonly ctimeMs: number;
}

/** Differs once the file was written to, cut or replaced, whoever did it. Never 0. */
export function fingerprintOf({ ino, size, ctimeMs }: FileStats): number {
  return crc32(`${ino} ${size} ${ctimeMs}`) | 0 || 1;
}
