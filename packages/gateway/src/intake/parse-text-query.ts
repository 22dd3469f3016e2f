/** The parameter `q` becomes what is looked for (PROTOCOL.md section 14.2). */
import type { TextQuery, Term } from '../log/text-query.ts';
import { wordsOf } from '../search/tokenizer.ts';

/** Why a query cannot be used: what is wanted, and what came instead. */
export interface Unusable {
  readonly wanted: string;
  readonly got: string;
}

const QUOTES = /[“”„«»]/g;
const SPACE = /^\s$/v;
const EXAMPLE = 'such as garden "shared memory" trac* -noise';

/** One part of a query. */
interface Item {
  readonly without: boolean;
  readonly phrase: boolean;
  readonly text: string;
  readonly open: boolean;
}

/** All that the queries ask for together. */
export function parseTextQuery(queries: readonly string[]): TextQuery | Unusable {
  const all: Term[] = [];
  const none: Term[] = [];
  const met = new Set<string>();
  for (const query of queries) {
    for (const item of itemsOf(query.replace(QUOTES, '"'))) {
      if ('wanted' in item) return item;
      const { without, phrase, text, open } = item;
      if (!phrase && text.includes('*')) {
        return { wanted: `words with a * only at the end, ${EXAMPLE}`, got: text };
      }
      const words = wordsOf(text);
      // Saying it twice asks for no more.
      const key = `${without ? '-' : ''}${words.join(' ')}${open ? '*' : ''}`;
      if (words.length > 0 && !met.has(key)) (without ? none : all).push({ words, isPrefix: open });
      else if (words.length === 0 && open) {
        const wanted = `words that begin with a letter or digit before the *, ${EXAMPLE}`;
        return { wanted, got: `${text}*` };
      }
      met.add(key);
    }
  }
  if (all.length > 0) return { all, none };
  const got = queries.join(' ');
  return none.length > 0
    ? { wanted: `at least one word to find besides those to exclude, ${EXAMPLE}`, got }
    : { wanted: `words with letters or digits, ${EXAMPLE}`, got };
}

/** By hand: a query may be megabytes long, and expressions take a stack for what they match. */
function* itemsOf(query: string): Generator<Item | Unusable> {
  for (let at = 0; at < query.length;) {
    if (SPACE.test(query.charAt(at))) {
      at += 1;
      continue;
    }
    const without = query.charAt(at) === '-';
    const from = without ? at + 1 : at;
    if (query.charAt(from) === '"') {
      const end = query.indexOf('"', from + 1);
      if (end === -1) {
        const wanted = `a phrase that ends with a quotation mark, ${EXAMPLE}`;
        yield { wanted, got: query.slice(at) };
        return;
      }
      const open = query.charAt(end + 1) === '*';
      yield { without, phrase: true, text: query.slice(from + 1, end), open };
      at = open ? end + 2 : end + 1;
      continue;
    }
    let end = from;
    while (end < query.length && !SPACE.test(query.charAt(end)) && query.charAt(end) !== '"')
      end += 1;
    const open = end > from && query.charAt(end - 1) === '*';
    yield { without, phrase: false, text: query.slice(from, open ? end - 1 : end), open };
    at = end;
  }
}
