/** Matching and ranking (Okapi BM25) without an index: looks at every entry each time. */
import {
  termsIn,
  type TextQuery,
  type Term,
} from '../../../packages/gateway/src/log/text-query.ts';

/** The string values of an entry, each as a list of words. */
export type Values = readonly (readonly string[])[];

/** An entry. Its facets count for its length. */
interface RankedText {
  readonly values: Values;
  readonly facets: { readonly size: number };
}

export function matches(values: Values, { all, none }: TextQuery): boolean {
  const hasTerm = (term: Term): boolean => count(values, term) > 0;
  return [...termsIn(all)].every(hasTerm) && ![...termsIn(none)].some(hasTerm);
}

/** A function of the rank: the greater, the better; rounded, so that equals do not differ by the order of a sum. `entries`: all of the log. */
export function ranking(
  { all }: TextQuery,
  entries: readonly RankedText[],
): (text: RankedText) => number {
  const average = entries.reduce((sum, entry) => sum + length(entry), 0) / entries.length;
  const weights = [...termsIn(all)].map((term) => {
    const matching = entries.filter(({ values }) => count(values, term) > 0).length;
    const rarity = (entries.length - matching + 0.5) / (matching + 0.5);
    return { term, weight: Math.max(1e-6, Math.log(rarity)) };
  });
  return (text) => {
    const rank = weights.reduce((sum, { term, weight }) => {
      const frequency = count(text.values, term);
      const saturation = frequency + 1.2 * (1 - 0.75 + (0.75 * length(text)) / average);
      return sum + weight * ((frequency * (1.2 + 1)) / saturation);
    }, 0);
    return Number(rank.toPrecision(12));
  };
}

/** In words, counting the end of each value and each facet as one. */
function length({ values, facets }: RankedText): number {
  return values.reduce((sum, words) => sum + words.length + 1, facets.size);
}

function count(values: Values, { words, isPrefix }: Term): number {
  const isMatch = (word: string | undefined, at: number): boolean =>
    word !== undefined &&
    (word === words[at] ||
      (isPrefix && at === words.length - 1 && word.startsWith(words[at] ?? '')));
  return values.reduce(
    (sum, value) =>
      sum + value.filter((_, from) => words.every((_, at) => isMatch(value[from + at], at))).length,
    0,
  );
}
