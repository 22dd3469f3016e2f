/**
 * A few words around what was sought, out of the entry's own text: plain text on one line, cut
 * between words, of at most `LONGEST` characters.
 */
import type { TextQuery, Term } from '../log/text-query.ts';
import { WORD_CANDIDATE, tokenize } from './tokenizer.ts';

const LONGEST = 240;
const BEFORE = 60;

interface Place {
  readonly from: number;
  readonly to: number;
}
interface Hit extends Place {
  readonly term: Term;
}

/** What is sought by its first word: there may be as many terms as an entry has words. */
class Terms {
  readonly #first = new Map<string, Term[]>();
  readonly #open = new Map<string, Term[]>();
  readonly #lengths: readonly number[];

  constructor({ all }: TextQuery) {
    for (const term of all) {
      const [first = ''] = term.words;
      const terms = term.isPrefix && term.words.length === 1 ? this.#open : this.#first;
      const known = terms.get(first);
      if (known === undefined) terms.set(first, [term]);
      else known.push(term);
    }
    this.#lengths = [...new Set(Array.from(this.#open.keys(), ({ length }) => length))];
  }

  /** Those that may begin with this word. */
  beginning(word: string): Term[] {
    const opened = this.#lengths
      .filter((length) => length <= word.length)
      .flatMap((length) => this.#open.get(word.slice(0, length)) ?? []);
    return [...(this.#first.get(word) ?? []), ...opened];
  }
}

const TERMS = new WeakMap<TextQuery, Terms>();

function termsOf(sought: TextQuery): Terms {
  const known = TERMS.get(sought);
  if (known !== undefined) return known;
  const terms = new Terms(sought);
  TERMS.set(sought, terms);
  return terms;
}

export class SnippetBuilder {
  readonly #sought: TextQuery;
  readonly #terms: Terms;
  #best = 0;
  #text = '';

  constructor(sought: TextQuery) {
    this.#sought = sought;
    this.#terms = termsOf(sought);
  }

  /** The best of what was taken; the beginning of it where nothing was found. */
  get text(): string {
    return this.#text;
  }

  /** Takes a value, or a piece of a long one. */
  add(value: string): void {
    if (this.#best === this.#sought.all.length) return;
    // Most values have nothing of it: a closer look costs more.
    const near = tokenize(value).some((word) => this.#terms.beginning(word).length > 0);
    const hits = near ? hitsIn(value, this.#terms) : [];
    const [hit, count] = fullest(hits);
    if (hit === undefined) {
      if (this.#text === '') this.#text = cutOut(value, 0);
    } else if (count > this.#best) {
      this.#best = count;
      this.#text = cutOut(value, Math.max(0, hit.from - BEFORE));
    }
  }
}

function hitsIn(value: string, terms: Terms): Hit[] {
  const words: { readonly word: string; readonly place: Place }[] = [];
  for (const { 0: segment, index } of value.matchAll(WORD_CANDIDATE)) {
    const place = { from: index, to: index + segment.length };
    for (const word of tokenize(segment)) words.push({ word, place });
  }
  return words.flatMap(({ word, place }, at) =>
    terms
      .beginning(word)
      .filter(({ words: sought, isPrefix }) =>
        sought.every((one, next) => {
          const said = words[at + next]?.word;
          return (
            said === one ||
            (isPrefix && next === sought.length - 1 && said?.startsWith(one) === true)
          );
        }),
      )
      .map((term) => ({ ...place, term })),
  );
}

/** The hit with the most terms close behind it, itself among them, and how many. */
function fullest(hits: readonly Hit[]): readonly [Hit | undefined, number] {
  let best: Hit | undefined;
  let most = 0;
  for (const [at, hit] of hits.entries()) {
    const terms = new Set<Term>();
    for (let next = at; next < hits.length; next += 1) {
      const other = hits[next];
      if (other === undefined || other.to > hit.from + LONGEST - BEFORE) break;
      terms.add(other.term);
    }
    if (terms.size <= most && best !== undefined) continue;
    best = hit;
    most = Math.max(1, terms.size);
  }
  return [best, most];
}

function cutOut(value: string, from: number): string {
  const start = from === 0 ? 0 : borderAfter(value, from);
  const end = start + LONGEST >= value.length ? value.length : borderBefore(value, start + LONGEST);
  const text = value.slice(start, end).toWellFormed().replace(/\s+/gv, ' ').trim();
  return `${start > 0 ? '…' : ''}${text}${end < value.length ? '…' : ''}`;
}

/** The next space, if one is near. */
function borderAfter(value: string, from: number): number {
  const space = value.slice(from, from + BEFORE).search(/\s/v);
  return space === -1 ? from : from + space + 1;
}

function borderBefore(value: string, to: number): number {
  const near = value.slice(to - BEFORE, to);
  const space = near.search(/\s\S*$/v);
  return space === -1 ? to : to - BEFORE + space;
}
