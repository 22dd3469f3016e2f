/** Reads the WAL of a database (https://sqlite.org/fileformat2.html#the_write_ahead_log). */
import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

import { SpoiledWords } from './words-database.ts';

/** Of SQLite, unless it is set otherwise. */
export const PAGE_SIZE = 4096;
const HEADER_SIZE = 32;
const FRAME_HEADER_SIZE = 24;
/** In the lowest bit: whether the checksums are of big-endian numbers. */
const BIG_ENDIAN_CHECKSUMS = 1;

export interface WalFrame {
  readonly page: number;
  /** Valid until the next frame is read. */
  readonly bytes: Buffer;
}

/**
 * The frames in their order: so many, or all that hold together. Throws a `SpoiledWords` where there
 * are fewer than `count`.
 */
export function* walFrames(file: string, count?: number): Generator<WalFrame, void, undefined> {
  if (count === 0) return;
  const handle = openSync(file, 'r');
  try {
    const header = Buffer.alloc(HEADER_SIZE);
    readSync(handle, header, 0, HEADER_SIZE, 0);
    const frame = Buffer.alloc(FRAME_HEADER_SIZE + PAGE_SIZE);
    const checksum = new WalChecksum(header);
    const hasPageSize = header.readUInt32BE(8) === PAGE_SIZE;
    for (let at = 0; at !== count; at += 1) {
      const size = readSync(handle, frame, 0, frame.length, HEADER_SIZE + at * frame.length);
      if (!hasPageSize || size < frame.length || !checksum.holds(frame)) {
        if (count === undefined) return;
        throw new SpoiledWords(`frame ${at} of ${basename(file)} has changed`);
      }
      yield { page: frame.readUInt32BE(0), bytes: frame.subarray(FRAME_HEADER_SIZE) };
    }
  } finally {
    closeSync(handle);
  }
}

/** Goes on from frame to frame. */
class WalChecksum {
  readonly #salts: Buffer;
  readonly #littleEndian: boolean;
  #first: number;
  #second: number;

  constructor(header: Buffer) {
    this.#salts = header.subarray(16, 24);
    this.#littleEndian = (header.readUInt32BE(0) & BIG_ENDIAN_CHECKSUMS) === 0;
    this.#first = header.readUInt32BE(24);
    this.#second = header.readUInt32BE(28);
  }

  holds(frame: Buffer): boolean {
    if (!frame.subarray(8, 16).equals(this.#salts)) return false;
    this.#add(frame.subarray(0, 8));
    this.#add(frame.subarray(FRAME_HEADER_SIZE));
    return frame.readUInt32BE(16) === this.#first && frame.readUInt32BE(20) === this.#second;
  }

  #add({ buffer, byteOffset, byteLength }: Buffer): void {
    const view = new DataView(buffer, byteOffset, byteLength);
    let [first, second] = [this.#first, this.#second];
    for (let at = 0; at < byteLength; at += 8) {
      first = (first + view.getUint32(at, this.#littleEndian) + second) >>> 0;
      second = (second + view.getUint32(at + 4, this.#littleEndian) + first) >>> 0;
    }
    this.#first = first;
    this.#second = second;
  }
}
