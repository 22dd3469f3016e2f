/** Parses the parameter `q` (PROTOCOL.md section 14.2). */
import { FILTER_MEMBERS, FILTER_NAMES, quoted, SELECTOR_NAMES } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { type Term, termList, termText, type TextQuery } from '../log/text-query.ts';
import { tokenize } from '../search/tokenizer.ts';

/** Why a query cannot be used: what it must be, and what it was. */
export interface TextQueryFault {
  readonly wanted: string;
  readonly got: string;
}

const QUOTES = /[“”„«»]/g;
const SPACE = /^\s$/v;
const QUOTE = 0x22;
/** A longer phrase is looked up in parts that overlap. Only the first part is excluded. */
const MAX_PHRASE = 64;
const OVERLAP = 32;
/** A turn is checked for after this many items. */
const ITEMS_PER_CHECK = 32;
/** In characters. Notes on how the queries were read cover only this much of all queries together. */
const MAX_NOTED = 16 * 1024;
const MAX_NOTES = 8;
const EXAMPLE = 'such as garden "shared memory" trac* -noise';

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

const NOTHING_EXCLUDED: TextQueryFault = {
  wanted: `words with one to exclude after each NOT, or "NOT" in quotation marks to find the word, ${EXAMPLE}`,
  got: 'NOT',
};

/** An operator of other search engines, which is no word here unless it is quoted. */
function isOperator(
  { isExcluded, isPhrase, isPrefix, text }: QueryItem,
  operator: 'AND' | 'OR' | 'NOT',
): boolean {
  return text === operator && !isExcluded && !isPhrase && !isPrefix;
}

/** An item that looks like a member's name, perhaps with a value, in the syntax of other search engines. */
const MEMBER_ITEM = /^([\p{L}_][\p{L}\p{M}\p{N}_.'’ʼ]*):(?<value>[\p{L}\p{N}]|$)/v;
const SELECTING = [...SELECTOR_NAMES, 'room', 'kind'];

/** How a query was read, where its writer may have meant something else. */
export function queryNotes(queries: Iterable<string>): readonly string[] {
  const notes: string[] = [];
  let left = MAX_NOTED;
  for (const query of queries) {
    if (left <= 0) break;
    const member = memberIn(itemsOf(query.slice(0, left).replace(QUOTES, '"')));
    if (member !== undefined) notes.push(memberNote(member));
    if (notes.length === MAX_NOTES) break;
    left -= query.length + 1;
  }
  return notes;
}

interface MemberItem {
  readonly name: string;
  readonly hasValue: boolean;
}

function memberNote({ name, hasValue }: MemberItem): string {
  const phrase = hasValue ? ', as one phrase with what follows it' : '';
  const parameter = parameterFor(name);
  const wanted =
    parameter === undefined
      ? `use one of the parameters ${SELECTING.join(', ')}: none selects by ${quoted(name)}`
      : `use the parameter ${quoted(parameter)}`;
  return `${quoted(`${name}:`)} was read as text${phrase}: "q" does not select by a member. To do so, ${wanted}.`;
}

/** The first name of a member with a value, in the same item or after it. */
function memberIn(items: Iterable<QueryItem | TextQueryFault>): MemberItem | undefined {
  let name: string | undefined;
  for (const item of items) {
    if (name !== undefined) return { name, hasValue: false };
    if ('wanted' in item || item.isPhrase) continue;
    const match = MEMBER_ITEM.exec(item.text);
    name = match?.[1];
    if (name !== undefined && match?.groups?.['value'] !== '') return { name, hasValue: true };
  }
  return undefined;
}

/** The parameter that selects by a member of this name, in whatever case it is written. */
function parameterFor(name: string): string | undefined {
  const isSame = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
  return (
    SELECTING.find(isSame) ?? FILTER_NAMES.find((filter) => FILTER_MEMBERS[filter].some(isSame))
  );
}

/** One query with all terms, each once. Takes turns with other work: a query may be a megabyte long. */
export async function parseTextQuery(
  queries: readonly string[],
): Promise<TextQuery | TextQueryFault> {
  const yieldTurn = yieldPeriodically();
  const terms = { all: new Terms(), none: new Terms() };
  let count = 0;
  for (const query of queries) {
    let isNegated = false;
    for (const item of itemsOf(query.replace(QUOTES, '"'))) {
      count += 1;
      if (count % ITEMS_PER_CHECK === 0) await yieldTurn();
      if ('wanted' in item) return item;
      if (isOperator(item, 'OR')) return NO_ALTERNATIVES;
      if (isOperator(item, 'AND')) continue;
      if (isOperator(item, 'NOT')) {
        isNegated = true;
        continue;
      }
      const isExcluded = item.isExcluded || isNegated;
      isNegated = false;
      const fault = addTerms(item, terms[isExcluded ? 'none' : 'all'], isExcluded);
      if (fault !== undefined) return fault;
    }
    if (isNegated) return NOTHING_EXCLUDED;
  }
  const [all, none] = [termList([...terms.all.values()]), termList([...terms.none.values()])];
  if (all.count > 0) return { all, none };
  const got = queries.join(' ');
  return none.count > 0
    ? { wanted: `at least one word to find besides those to exclude, ${EXAMPLE}`, got }
    : { wanted: `words with letters or digits, ${EXAMPLE}`, got };
}

/** By their texts. */
class Terms extends Map<string, Term> {
  add(term: Term): void {
    this.set(termText(term), term);
  }
}

/** Adds the words of an item as one term, or as several where they are many. */
function addTerms(
  { isPhrase, text, isPrefix }: QueryItem,
  terms: Terms,
  isExcluded: boolean,
): TextQueryFault | undefined {
  if (!isPhrase && text.includes('*'))
    return { wanted: `words with a * only at the end, ${EXAMPLE}`, got: text };
  const words = tokenize(text);
  if (words.length === 0) {
    const wanted = `words that begin with a letter or digit before the *, ${EXAMPLE}`;
    return isPrefix ? { wanted, got: `${text}*` } : undefined;
  }
  const isCut = words.length > MAX_PHRASE;
  for (let at = 0; at === 0 || at + OVERLAP < words.length; at += OVERLAP) {
    const isLast = at + MAX_PHRASE >= words.length;
    terms.add({ words: words.slice(at, at + MAX_PHRASE), isPrefix: isPrefix && isLast });
    if (isLast || (isCut && isExcluded)) break;
  }
  return undefined;
}

/** A loop: a query may be a megabyte long, and a regular expression needs stack for it. */
function* itemsOf(query: string): Generator<QueryItem | TextQueryFault> {
  for (let at = 0; at < query.length;) {
    if (isSpace(query, at)) {
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
  while (end < query.length && query.charCodeAt(end) !== QUOTE && !isSpace(query, end)) end += 1;
  return end;
}

function isSpace(query: string, at: number): boolean {
  const code = query.charCodeAt(at);
  return code <= 0x20 || code >= 0x80 ? SPACE.test(query.charAt(at)) : false;
}
