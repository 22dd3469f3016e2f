/**
 * Which texts say what is sought, and how well: Okapi BM25, worked out for every text each time.
 * A text is a list of values, each a list of words.
 */
import type { TextQuery, Term } from '../../log/text-query.ts';

export type Values = readonly (readonly string[])[];

export function isSaid(values: Values, { all, none }: TextQuery): boolean {
  const found = (term: Term): boolean => count(values, term) > 0;
  return all.every(found) && !none.some(found);
}

/** The better, the greater. `texts` are all there are. */
export function rankOf(values: Values, { all }: TextQuery, texts: readonly Values[]): number {
  const average = texts.reduce((sum, text) => sum + length(text), 0) / texts.length;
  return all.reduce((sum, term) => {
    const having = texts.filter((text) => count(text, term) > 0).length;
    const rare = Math.max(1e-6, Math.log((texts.length - having + 0.5) / (having + 0.5)));
    const times = count(values, term);
    const damped = times + 1.2 * (1 - 0.75 + (0.75 * length(values)) / average);
    return sum + rare * ((times * (1.2 + 1)) / damped);
  }, 0);
}

/** With one more for the end of each value. */
function length(values: Values): number {
  return values.reduce((sum, words) => sum + words.length + 1, 0);
}

function count(values: Values, { words, isPrefix }: Term): number {
  const fits = (word: string | undefined, at: number): boolean =>
    word !== undefined &&
    (word === words[at] ||
      (isPrefix && at === words.length - 1 && word.startsWith(words[at] ?? '')));
  return values.reduce(
    (sum, said) =>
      sum + said.filter((_, from) => words.every((_, at) => fits(said[from + at], at))).length,
    0,
  );
}
