/**
 * Text queries in the syntax of FTS5 (words of our tokenizer have no special characters), and row
 * ids. A small entry is one row, whose id is its seq. A large entry is several rows, which come
 * after those of all small entries.
 */
import type { Seq } from '../../../log/log.ts';
import type { Term, TextQuery } from '../../../log/text-query.ts';

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

/** Matches one term. */
export function ftsPhrase({ words, isPrefix }: Term): string {
  return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`;
}

/** Matches rows that have all terms of `all` and none of `none`. */
export function ftsQuery({ all, none }: TextQuery): string {
  const required = joinTerms(all, 'AND');
  return none.length === 0 ? required : `(${required}) NOT (${joinTerms(none, 'OR')})`;
}

/** Nested in halves: FTS5 copies everything to the left of each operator. */
export function joinTerms(terms: readonly Term[], operator: 'AND' | 'OR'): string {
  if (terms.length <= 64) return terms.map(ftsPhrase).join(` ${operator} `);
  const middle = terms.length >>> 1;
  const left = joinTerms(terms.slice(0, middle), operator);
  return `(${left}) ${operator} (${joinTerms(terms.slice(middle), operator)})`;
}
