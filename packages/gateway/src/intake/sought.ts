/** The parameter `q` becomes what is looked for (PROTOCOL.md section 14.2). */
import type { Sought, Term } from '../log/words/sought.ts';
import { wordsOf } from '../log/words/words.ts';

/** Why a query cannot be used: what is wanted, and what came instead. */
export interface Unusable {
  readonly wanted: string;
  readonly got: string;
}

/** A minus, then a phrase or what has no space in it, then perhaps a star. */
const ITEM = /(-?)(?:"([^"]*)("?)(\*?)|([^\s"]+))/gv;
const QUOTES = /[“”„«»]/g;
const EXAMPLE = 'such as garden "shared memory" trac* -noise';

/** All that the queries ask for together. */
export function soughtOf(queries: readonly string[]): Sought | Unusable {
  const all: Term[] = [];
  const none: Term[] = [];
  for (const query of queries) {
    for (const match of query.replace(QUOTES, '"').matchAll(ITEM)) {
      const [item, minus, phrase, closed, star, plain = ''] = match;
      if (phrase !== undefined && closed === '') {
        return { wanted: `a phrase that ends with a quotation mark, ${EXAMPLE}`, got: item };
      }
      const text = phrase ?? plain.replace(/\*$/v, '');
      const open = phrase === undefined ? plain.endsWith('*') : star === '*';
      if (phrase === undefined && text.includes('*')) {
        return { wanted: `words with a * only at their end, ${EXAMPLE}`, got: item };
      }
      const words = wordsOf(text);
      if (words.length > 0) (minus === '-' ? none : all).push({ words, open });
      else if (open) {
        return {
          wanted: `words that begin with a letter or digit before the *, ${EXAMPLE}`,
          got: item,
        };
      }
    }
  }
  if (all.length > 0) return { all, none };
  const got = queries.join(' ');
  return none.length > 0
    ? { wanted: `at least one word to find beside those to leave out, ${EXAMPLE}`, got }
    : { wanted: `words to look for, with letters or digits in them, ${EXAMPLE}`, got };
}
