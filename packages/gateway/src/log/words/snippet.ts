/**
 * A few words around what was sought, out of the entry's own text: plain text on one line, cut
 * between words, of at most `LONGEST` characters.
 */
import type { Sought, Term } from './sought.ts';
import { SEGMENT, wordsOf } from './words.ts';

const LONGEST = 240;
const BEFORE = 60;

interface Place {
  readonly from: number;
  readonly to: number;
}
interface Hit extends Place {
  readonly term: Term;
}

export class Snippet {
  readonly #sought: Sought;
  #best = 0;
  #text = '';

  constructor(sought: Sought) {
    this.#sought = sought;
  }

  /** The best of what was taken; the beginning of it where nothing was found. */
  get text(): string {
    return this.#text;
  }

  /** Takes a value, or a piece of a long one. */
  take(value: string): void {
    if (this.#best === this.#sought.all.length) return;
    const near = this.#near(value);
    const hits = near.length === 0 ? [] : hitsIn(value, near);
    const [hit, count] = fullest(hits);
    if (hit === undefined) {
      if (this.#text === '') this.#text = cutOut(value, 0);
    } else if (count > this.#best) {
      this.#best = count;
      this.#text = cutOut(value, Math.max(0, hit.from - BEFORE));
    }
  }

  /** The terms for which a closer look is worth it. */
  #near(value: string): Term[] {
    const words = new Set(wordsOf(value));
    return this.#sought.all.filter(({ words: sought, open }) => {
      const [first = ''] = sought;
      return (open && sought.length === 1) || words.has(first);
    });
  }
}

function hitsIn(value: string, terms: readonly Term[]): Hit[] {
  const words: { readonly word: string; readonly place: Place }[] = [];
  for (const { 0: segment, index } of value.matchAll(SEGMENT)) {
    const place = { from: index, to: index + segment.length };
    for (const word of wordsOf(segment)) words.push({ word, place });
  }
  return words.flatMap(({ place }, at) =>
    terms
      .filter(({ words: sought, open }) =>
        sought.every((one, next) => {
          const said = words[at + next]?.word;
          return (
            said === one || (open && next === sought.length - 1 && said?.startsWith(one) === true)
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
