import { termsIn, type TermList } from '../../../log/text-query.ts';
import { ftsPhrase } from './fts.ts';
import type { Part } from './parts.ts';
import type { SearchSteps } from './search-turns.ts';
import type { RowSelection, TermScores } from './term-scores.ts';

/** Ranks rows by several terms. */
export class TermWeights {
  readonly #scores: TermScores;
  readonly #terms: TermList;
  /** Looked up once there is a match. */
  #weights: Float64Array | undefined;

  constructor(scores: TermScores, terms: TermList) {
    this.#scores = scores;
    this.#terms = terms;
  }

  /** The ranks of the selected rows of a part that have any of the terms, by their ids. */
  *rank(part: Part, selected: RowSelection): SearchSteps<Map<bigint | number, number>> {
    const weights = (this.#weights ??= yield* this.#scores.weights(this.#terms));
    const ranks = new Map<bigint | number, number>();
    let at = 0;
    for (const term of termsIn(this.#terms)) {
      yield;
      const weight = weights[at] ?? 0;
      at += 1;
      const weightInPart = this.#scores.weightIn(part, term);
      if (weightInPart === undefined) continue;
      yield;
      for (const { id, rank } of this.#scores.rows(ftsPhrase(term, part.prefix), selected)) {
        ranks.set(id, (ranks.get(id) ?? 0) + (weight * rank) / weightInPart);
      }
    }
    return ranks;
  }

  /**
   * By how much the weight of a term grows at most between a part and the whole index; undefined if no
   * row of the part has one of the terms.
   */
  *greatestRatio(part: Part): SearchSteps<number | undefined> {
    const weights = (this.#weights ??= yield* this.#scores.weights(this.#terms));
    let greatest = 0;
    let at = 0;
    for (const term of termsIn(this.#terms)) {
      yield;
      const weightInPart = this.#scores.weightIn(part, term);
      if (weightInPart === undefined) return undefined;
      greatest = Math.max(greatest, (weights[at] ?? 0) / weightInPart);
      at += 1;
    }
    return greatest;
  }
}
