/**
 * How far a text of joined entries was returned: the entry that a new read continues after, and how much of the
 * next entry was returned already. Entries have no newlines; each has its seq near its beginning.
 */
import { crc32 } from 'node:zlib';

import type { ReadPosition } from './log.ts';

/** What stands between two entries. Where it is empty, each entry ends with a newline of its own. */
export type Joiner = ',\n' | '\n' | '';

export interface TextPlace {
  /** After the last entry that was returned as a whole. */
  readonly position: ReadPosition;
  /** Bytes that were returned after it, with the joiner, and their CRC-32. */
  readonly size: number;
  readonly sum: number;
  /** The first of these bytes. */
  readonly opening: Uint8Array;
}

const NEWLINE = 10;
/** Has the seq, also where a line of the log begins with hashes (PROTOCOL.md section 20.2). */
const OPENING_SIZE = 512;
const SEQ = '"seq":';
const NOTHING = Buffer.alloc(0);

export function placeAt(position: ReadPosition): TextPlace {
  return { position, size: 0, sum: 0, opening: NOTHING };
}

/** The place after the next bytes. */
export function placeAfter(place: TextPlace, next: Uint8Array, joiner: Joiner): TextPlace {
  const { position, size, sum, opening } = place;
  const bytes = bufferOf(next);
  // The joiner before the entry, which is no end of one.
  const leading = position.last === undefined ? -1 : joiner.length - 1 - size;
  const end = bytes.lastIndexOf(NEWLINE);
  if (end === -1 || end === leading) {
    const missing = bytes.subarray(0, OPENING_SIZE - opening.length);
    return {
      position,
      size: size + bytes.length,
      sum: crc32(bytes, sum),
      opening: missing.length === 0 ? opening : Buffer.concat([opening, missing]),
    };
  }
  const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
  const lastOpening =
    before === -1
      ? Buffer.concat([opening, bytes.subarray(0, Math.min(end, OPENING_SIZE))])
      : bytes.subarray(before + 1, end);
  const begun = bytes.subarray(end + 1);
  const ended =
    position.left === Infinity ? 0 : newlinesIn(bytes) - (bytes[leading] === NEWLINE ? 1 : 0);
  return {
    position: { last: seqIn(lastOpening), left: position.left - ended },
    size: joiner.length + begun.length,
    sum: crc32(begun, crc32(joiner)),
    opening: Buffer.from(begun.subarray(0, OPENING_SIZE)),
  };
}

/** The same place, where it is the end of an entry. */
export function placeAtEnd(place: TextPlace, joiner: Joiner): TextPlace {
  const { position, size, opening } = place;
  const isBegun = size > (position.last === undefined ? 0 : joiner.length);
  if (!isBegun) return place;
  return placeAt({ last: seqIn(opening), left: position.left - 1 });
}

function seqIn(opening: Uint8Array): number {
  const text = bufferOf(opening).toString('latin1', 0, OPENING_SIZE);
  const start = text.indexOf(SEQ) + SEQ.length;
  return Number(text.slice(start, text.indexOf(',', start)));
}

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
