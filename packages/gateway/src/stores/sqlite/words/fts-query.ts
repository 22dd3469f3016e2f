/** Text queries in the syntax of FTS5. Words of our tokenizer have no special characters. */
import type { Term, TextQuery } from '../../../log/text-query.ts';

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
