/** Parses the parameter `q` (PROTOCOL.md section 14.2). */
import { FILTER_MEMBERS, FILTER_NAMES, quoted, SELECTOR_NAMES } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import type { TextQuery } from '../log/text-query.ts';
import { MAX_CHUNK_LENGTH, StreamTokenizer, tokenize } from '../search/tokenizer.ts';
import { TermSet } from './term-set.ts';

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

/** One query with all terms. Takes turns with other work: a query may be megabytes long. */
export async function parseTextQuery(
  queries: readonly string[],
): Promise<TextQuery | TextQueryFault> {
  const yieldTurn = yieldPeriodically();
  let capacity = 0;
  for (const query of queries) capacity += await maxTerms(query, yieldTurn);
  const terms = { all: new TermSet(capacity), none: new TermSet(capacity) };
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
      const phrase = new PhraseTerms(terms[isExcluded ? 'none' : 'all'], isExcluded);
      const added = addTerms(item, phrase);
      const fault = added instanceof Promise ? await added : added;
      if (fault !== undefined) return fault;
    }
    if (isNegated) return NOTHING_EXCLUDED;
  }
  const [all, none] = [terms.all.list, terms.none.list];
  if (all.count > 0) return { all, none };
  const got = queries.join(' ');
  return none.count > 0
    ? { wanted: `at least one word to find besides those to exclude, ${EXAMPLE}`, got }
    : { wanted: `words with letters or digits, ${EXAMPLE}`, got };
}

/** At most: a character stands between two terms, or they are parts of a phrase, each with `OVERLAP` words more. */
async function maxTerms(
  query: string,
  yieldTurn: () => Promise<void> | undefined,
): Promise<number> {
  let dividers = 0;
  for (let at = 0; at < query.length; at += 1) {
    const code = query.charCodeAt(at);
    if (code <= 0x20 || code >= 0x80 || code === QUOTE) dividers += 1;
    if (at % MAX_CHUNK_LENGTH === 0) await yieldTurn();
  }
  const parts = Math.ceil(query.length / OVERLAP);
  return Math.min(dividers + parts, Math.ceil(query.length / 2)) + 1;
}

/** Adds the words of an item as one term, or as several where they are many. */
class PhraseTerms {
  readonly #terms: TermSet;
  readonly #isExcluded: boolean;
  #words: string[] = [];
  #isCut = false;

  constructor(terms: TermSet, isExcluded: boolean) {
    this.#terms = terms;
    this.#isExcluded = isExcluded;
  }

  readonly push = (words: readonly string[]): void => {
    for (const word of words) {
      if (this.#words.length === MAX_PHRASE) {
        if (!this.#isCut || !this.#isExcluded) this.#add(false);
        this.#isCut = true;
        this.#words = this.#words.slice(-OVERLAP);
      }
      this.#words.push(word);
    }
  };

  /** Whether there were words. */
  end(isPrefix: boolean): boolean {
    if (this.#words.length === 0) return false;
    if (!this.#isCut || !this.#isExcluded) this.#add(isPrefix);
    return true;
  }

  #add(isPrefix: boolean): void {
    this.#terms.add({ words: this.#words, isPrefix });
  }
}

/** Adds the words of an item; in turns where it is long. */
function addTerms(
  { isPhrase, text, isPrefix }: QueryItem,
  phrase: PhraseTerms,
): TextQueryFault | undefined | Promise<TextQueryFault | undefined> {
  if (!isPhrase && text.includes('*')) {
    return { wanted: `words with a * only at the end, ${EXAMPLE}`, got: text };
  }
  const end = (): TextQueryFault | undefined => {
    if (phrase.end(isPrefix) || !isPrefix) return undefined;
    const wanted = `words that begin with a letter or digit before the *, ${EXAMPLE}`;
    return { wanted, got: `${text}*` };
  };
  if (text.length > MAX_CHUNK_LENGTH) return pushInTurns(text, phrase).then(end);
  phrase.push(tokenize(text));
  return end();
}

async function pushInTurns(text: string, phrase: PhraseTerms): Promise<void> {
  const yieldTurn = yieldPeriodically();
  const stream = new StreamTokenizer(phrase.push);
  for (let at = 0; at < text.length; at += MAX_CHUNK_LENGTH) {
    stream.push(text.slice(at, at + MAX_CHUNK_LENGTH));
    await yieldTurn();
  }
  stream.end();
}

/** A loop: a query may be megabytes long, and a regular expression needs stack for it. */
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
