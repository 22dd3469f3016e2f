/**
 * Row ids of the full-text index. A small entry is one row, whose id is its seq. A large entry is
 * several rows, which come after those of all small entries.
 */
import type { Seq } from '../../../log/log.ts';

const FIRST_LARGE = 2n ** 62n;
/** Bits of the part number. */
const PART_BITS = 22n;

export function largeRowId(seq: Seq, part: number): bigint {
  return FIRST_LARGE + (BigInt(seq) << PART_BITS) + BigInt(part);
}

/** The greatest row id that a large entry can have. */
export function lastLargeRowId(seq: Seq): bigint {
  return largeRowId(seq + 1, 0) - 1n;
}

export function seqOfLargeRow(rowId: bigint): Seq {
  return Number((rowId - FIRST_LARGE) >> PART_BITS);
}
