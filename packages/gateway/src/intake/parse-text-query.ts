/** Parses the parameter `q` (PROTOCOL.md section 14.2). */
import { FILTER_NAMES } from '@open-presence/protocol';

import { termList, type TextQuery, type Term } from '../log/text-query.ts';
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

const NO_ALTERNATIVES: TextQueryFault = {
  wanted: `words without OR, since all of them must be found: search once for each alternative, or write "OR" in quotation marks to find the word, ${EXAMPLE}`,
  got: 'OR',
};

/** An operator of other search engines, which is no word here unless it is quoted. */
function isOperator(
  { isExcluded, isPhrase, isPrefix, text }: QueryItem,
  operator: 'AND' | 'OR' | 'NOT',
): boolean {
  return text === operator && !isExcluded && !isPhrase && !isPrefix;
}

/** Parts that look like the name of a member and its value, in the syntax of other search engines. */
const MEMBER_PART = /(?:^|\s)-?([a-z][a-z_]*):(?!\/\/)["\p{L}]/iv;

/** How a query was read, where its writer may have meant something else. */
export function queryNotes(queries: readonly string[]): readonly string[] {
  return queries.flatMap((query) => {
    const name = MEMBER_PART.exec(query)?.[1];
    if (name === undefined) return [];
    return [
      `"${name}:" was searched as a word: "q" finds words in all members. To select by a member, use one of the parameters ${FILTER_NAMES.join(', ')}, room or kind.`,
    ];
  });
}

/** One query with the terms of all of these. */
export function parseTextQuery(queries: readonly string[]): TextQuery | TextQueryFault {
  const all: Term[] = [];
  const none: Term[] = [];
  const seen = new Set<string>();
  for (const query of queries) {
    let isNegated = false;
    for (const item of itemsOf(query.replace(QUOTES, '"'))) {
      if ('wanted' in item) return item;
      const { isPhrase, text, isPrefix } = item;
      if (isOperator(item, 'OR')) return NO_ALTERNATIVES;
      if (isOperator(item, 'AND')) continue;
      if (isOperator(item, 'NOT')) {
        isNegated = true;
        continue;
      }
      const isExcluded = item.isExcluded || isNegated;
      isNegated = false;
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
  if (all.length > 0) return { all: termList(all), none: termList(none) };
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
