/**
 * Text queries in the syntax of FTS5 (words of our tokenizer have no special characters), and row
 * ids. A small entry is one row, whose id is its seq. A large entry is several rows, which come
 * after those of all small entries.
 */
import type { Seq } from '../../../log/log.ts';
import { termsIn, type Term, type TermList, type TextQuery } from '../../../log/text-query.ts';

export const FIRST_LARGE: bigint = 2n ** 62n;
/** Bits of the part number. */
const PART_BITS = 22n;
/** Terms per statement: FTS5 opens a cursor for each, and copies everything left of an operator. */
const MAX_TERMS = 32;
/** A prefix costs as much as this many words: FTS5 merges all words that begin with it. */
const PREFIX_WEIGHT = 8;

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

/** Matches one term in the part whose tokens have this prefix. */
export function ftsPhrase({ words, isPrefix }: Term, prefix: string): string {
  return `"${prefix}${words.join(` ${prefix}`)}"${isPrefix ? ' *' : ''}`;
}

export function joinTerms(terms: readonly Term[], operator: 'AND' | 'OR', prefix: string): string {
  return terms.map((term) => ftsPhrase(term, prefix)).join(` ${operator} `);
}

/** The terms, as many together as a statement takes. */
export function* batchesOf(list: TermList): Generator<readonly Term[], void, undefined> {
  let batch: Term[] = [];
  let weight = 0;
  for (const term of termsIn(list)) {
    batch.push(term);
    weight += term.isPrefix ? PREFIX_WEIGHT : term.words.length;
    if (weight < MAX_TERMS) continue;
    yield batch;
    batch = [];
    weight = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Matches rows with all of the required terms and none of the excluded ones. */
export function ftsQuery(
  required: readonly Term[],
  excluded: readonly Term[],
  prefix: string,
): string {
  const query = joinTerms(required, 'AND', prefix);
  return excluded.length === 0 ? query : `(${query}) NOT (${joinTerms(excluded, 'OR', prefix)})`;
}

/** Undefined for a query with more terms than a statement takes. */
export function wholeQuery({ all, none }: TextQuery, prefix: string): string | undefined {
  const required = batchesOf(all).next().value ?? [];
  const excluded = batchesOf(none).next().value ?? [];
  const isWhole = required.length === all.count && excluded.length === none.count;
  return isWhole ? ftsQuery(required, excluded, prefix) : undefined;
}
