/** The part of an entry's values in which most terms of a query stand close together: one line, cut between words. */
import { termsIn, type TextQuery, type Term } from '../log/text-query.ts';
import { WORD_CANDIDATE, tokenize } from './tokenizer.ts';

/** Characters of a snippet, and of these the characters before the first match. */
const MAX_LENGTH = 240;
const BEFORE = 60;

interface Match {
  readonly term: Term;
  readonly from: number;
  readonly to: number;
}

const NO_TERMS: readonly Term[] = [];

/** Terms by their first word, because a query may have as many terms as an entry has words. */
class TermIndex {
  readonly #byWord: ReadonlyMap<string, readonly Term[]>;
  readonly #byPrefix: ReadonlyMap<string, readonly Term[]>;
  readonly #lengths: readonly number[];

  constructor({ all }: TextQuery) {
    const { word = [], prefix = [] } = Object.groupBy(termsIn(all), ({ isPrefix, words }) =>
      isPrefix && words.length === 1 ? 'prefix' : 'word',
    );
    this.#byWord = Map.groupBy(word, ({ words }) => words[0] ?? '');
    this.#byPrefix = Map.groupBy(prefix, ({ words }) => words[0] ?? '');
    this.#lengths = [...new Set(Array.from(this.#byPrefix.keys(), ({ length }) => length))];
  }

  startingWith(word: string): readonly Term[] {
    const whole = this.#byWord.get(word) ?? NO_TERMS;
    if (this.#lengths.length === 0) return whole;
    const byPrefix = this.#lengths
      .filter((length) => length <= word.length)
      .flatMap((length) => this.#byPrefix.get(word.slice(0, length)) ?? NO_TERMS);
    return [...whole, ...byPrefix];
  }
}

const INDEXES = new WeakMap<TextQuery, TermIndex>();

function indexOf(query: TextQuery): TermIndex {
  const cached = INDEXES.get(query);
  if (cached !== undefined) return cached;
  const terms = new TermIndex(query);
  INDEXES.set(query, terms);
  return terms;
}

export class SnippetBuilder {
  readonly #query: TextQuery;
  readonly #terms: TermIndex;
  /** How many terms the snippet has. */
  #count = 0;
  #text = '';

  constructor(query: TextQuery) {
    this.#query = query;
    this.#terms = indexOf(query);
  }

  /** The best part of the values so far, or their start if they have no term. */
  get text(): string {
    return this.#text;
  }

  /** Adds a value, or a piece of a long one. */
  add(value: string): void {
    if (this.#count === this.#query.all.count) return;
    // Most values have no term, and finding positions costs more.
    const mayMatch = tokenize(value).some((word) => this.#terms.startingWith(word).length > 0);
    const matches = mayMatch ? matchesIn(value, this.#terms) : [];
    const [match, count] = densest(matches);
    if (match === undefined) {
      if (this.#text === '') this.#text = cutOut(value, 0);
    } else if (count > this.#count) {
      this.#count = count;
      this.#text = cutOut(value, Math.max(0, match.from - BEFORE));
    }
  }
}

/** The whole text in parts. The parts that match a term of the query are marked. */
export function markMatches(
  text: string,
  query: TextQuery,
): { readonly text: string; readonly isMatch: boolean }[] {
  const parts: { text: string; isMatch: boolean }[] = [];
  let end = 0;
  for (const { from, to } of matchesIn(text, indexOf(query))) {
    if (to <= end) continue;
    const start = Math.max(from, end);
    if (start > end) parts.push({ text: text.slice(end, start), isMatch: false });
    parts.push({ text: text.slice(start, to), isMatch: true });
    end = to;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isMatch: false });
  return parts;
}

function matchesIn(value: string, terms: TermIndex): Match[] {
  const words = Array.from(value.matchAll(WORD_CANDIDATE), ({ 0: segment, index }) =>
    tokenize(segment).map((word) => ({ word, segment, index, to: index + segment.length })),
  ).flat();
  return words.flatMap(({ word, segment, index, to }, at) =>
    terms
      .startingWith(word)
      .filter(({ words: wanted, isPrefix }) =>
        wanted.every((word, next) => {
          const found = words[at + next]?.word;
          const isLast = next === wanted.length - 1;
          return found === word || (isPrefix && isLast && found?.startsWith(word) === true);
        }),
      )
      .map((term) => ({
        term,
        from: index + startOf(segment),
        to: words[at + term.words.length - 1]?.to ?? to,
      })),
  );
}

/** Where the first letter or digit is: marks and invisible characters before it can be longer than a snippet. */
function startOf(segment: string): number {
  return Math.max(0, segment.search(/[\p{L}\p{N}]/v));
}

/** The match with the most terms within a snippet from it, and how many these are. */
function densest(matches: readonly Match[]): readonly [Match | undefined, number] {
  let best: Match | undefined;
  let most = 0;
  for (const [at, match] of matches.entries()) {
    const terms = new Set<Term>();
    for (let next = at; next < matches.length; next += 1) {
      const other = matches[next];
      if (other === undefined || other.to > match.from + MAX_LENGTH - BEFORE) break;
      terms.add(other.term);
    }
    if (terms.size <= most && best !== undefined) continue;
    best = match;
    most = Math.max(1, terms.size);
  }
  return [best, most];
}

function cutOut(value: string, from: number): string {
  const start = from === 0 ? 0 : borderAfter(value, from);
  const end =
    start + MAX_LENGTH >= value.length ? value.length : borderBefore(value, start + MAX_LENGTH);
  const text = value.slice(start, end).toWellFormed().replace(/\s+/gv, ' ').trim();
  return `${start > 0 ? '…' : ''}${text}${end < value.length ? '…' : ''}`;
}

/** The next space, if one is near, or else between two characters. */
function borderAfter(value: string, from: number): number {
  const space = value.slice(from, from + BEFORE).search(/\s/v);
  return space === -1 ? between(value, from) : from + space + 1;
}

function borderBefore(value: string, to: number): number {
  const near = value.slice(to - BEFORE, to);
  const space = near.search(/\s\S*$/v);
  return space === -1 ? between(value, to) : to - BEFORE + space;
}

/** Not within a surrogate pair. */
function between(value: string, at: number): number {
  return /[\udc00-\udfff]/.test(value.charAt(at)) ? at - 1 : at;
}
