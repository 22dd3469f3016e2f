/** Parses the parameter `q` (PROTOCOL.md section 14.2). */
import type { TextQuery, Term } from '../log/text-query.ts';
import { tokenize } from '../search/tokenizer.ts';

/** Why a query cannot be used: what it must be, and what it was. */
export interface TextQueryFault {
  readonly wanted: string;
  readonly got: string;
}

const QUOTES = /[“”„«»]/g;
const SPACE = /^\s$/v;
const EXAMPLE = 'such as garden "shared memory" trac* -noise';

/** A word or phrase as it was written. */
interface QueryItem {
  readonly isExcluded: boolean;
  readonly isPhrase: boolean;
  readonly text: string;
  readonly isPrefix: boolean;
}

/** One query with the terms of all of these. */
export function parseTextQuery(queries: readonly string[]): TextQuery | TextQueryFault {
  const all: Term[] = [];
  const none: Term[] = [];
  const seen = new Set<string>();
  for (const query of queries) {
    for (const item of itemsOf(query.replace(QUOTES, '"'))) {
      if ('wanted' in item) return item;
      const { isExcluded, isPhrase, text, isPrefix } = item;
      if (!isPhrase && text.includes('*')) {
        return { wanted: `words with a * only at the end, ${EXAMPLE}`, got: text };
      }
      const words = tokenize(text);
      if (isPrefix && words.length === 0) {
        const wanted = `words that begin with a letter or digit before the *, ${EXAMPLE}`;
        return { wanted, got: `${text}*` };
      }
      const key = `${isExcluded ? '-' : ''}${words.join(' ')}${isPrefix ? '*' : ''}`;
      if (words.length > 0 && !seen.has(key)) (isExcluded ? none : all).push({ words, isPrefix });
      seen.add(key);
    }
  }
  if (all.length > 0) return { all, none };
  const got = queries.join(' ');
  return none.length > 0
    ? { wanted: `at least one word to find besides those to exclude, ${EXAMPLE}`, got }
    : { wanted: `words with letters or digits, ${EXAMPLE}`, got };
}

/** A loop, because a query may be megabytes long and a regular expression needs stack for it. */
function* itemsOf(query: string): Generator<QueryItem | TextQueryFault> {
  for (let at = 0; at < query.length;) {
    if (SPACE.test(query.charAt(at))) {
      at += 1;
      continue;
    }
    const isExcluded = query.charAt(at) === '-';
    const from = isExcluded ? at + 1 : at;
    const isPhrase = query.charAt(from) === '"';
    const end = isPhrase ? query.indexOf('"', from + 1) : wordEnd(query, from);
    if (end === -1) {
      const wanted = `a phrase that ends with a quotation mark, ${EXAMPLE}`;
      yield { wanted, got: query.slice(at) };
      return;
    }
    if (isPhrase) {
      const isPrefix = query.charAt(end + 1) === '*';
      yield { isExcluded, isPhrase, text: query.slice(from + 1, end), isPrefix };
      at = isPrefix ? end + 2 : end + 1;
    } else {
      const isPrefix = end > from && query.charAt(end - 1) === '*';
      yield { isExcluded, isPhrase, text: query.slice(from, isPrefix ? end - 1 : end), isPrefix };
      at = end;
    }
  }
}

function wordEnd(query: string, from: number): number {
  let end = from;
  while (end < query.length && query.charAt(end) !== '"' && !SPACE.test(query.charAt(end)))
    end += 1;
  return end;
}
