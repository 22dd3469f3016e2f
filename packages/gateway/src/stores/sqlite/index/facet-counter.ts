import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import { type FacetSources, placeOf, placesOf } from './facet-search.ts';
import { countPostings, facetKey, partOf, PART_SIZE, SpoiledIndex } from './postings.ts';

/** Entries of the log that are read together. */
const SCAN_SEQS = 4096;

/**
 * Counts the entries of a kind or a room between seqs. Looks at one row of postings at each end, and
 * remembers the totals of the parts in between: a number for each kind or room and 65,536 entries.
 */
export class FacetCounter {
  readonly #sources: FacetSources;
  /** By facet, then by part. Only of parts that the index has completely. */
  readonly #totals = new Map<string, Map<number, number>>();
  #generation = -1;

  constructor(sources: FacetSources) {
    this.#sources = sources;
  }

  async countBetween(
    facet: Facet,
    bounds: readonly Seq[],
    signal: AbortSignal | undefined,
  ): Promise<number[]> {
    const takeTurn = yieldPeriodically();
    const counts: number[] = [];
    for (const [index, low] of bounds.slice(0, -1).entries()) {
      const high = (bounds[index + 1] ?? low) - 1;
      let count = 0;
      for (let at = low; at <= high;) {
        signal?.throwIfAborted();
        const step = this.#step(facet, at, high);
        if (step !== undefined) {
          count += step.count;
          at = step.next;
        }
        await takeTurn();
      }
      counts.push(count);
    }
    return counts;
  }

  /** A piece of the way from `at` to `high`. Undefined if the index turns out to be spoiled. */
  #step(facet: Facet, at: Seq, high: Seq): { count: number; next: Seq } | undefined {
    const places = placesOf(this.#sources);
    const last = Math.min(high, placeOf(at, places)[1]);
    if (at >= places.tail) {
      return { count: this.#sources.tail.count(facet, at, last), next: last + 1 };
    }
    if (at < places.first || at > places.last) {
      const span = { from: at, to: Math.min(last, at + SCAN_SEQS - 1) };
      return { count: this.#sources.scan.seqsWith(facet, span).length, next: span.to + 1 };
    }
    const to = Math.min(last, (partOf(at) + 1) * PART_SIZE - 1);
    try {
      return { count: this.#countInPart(facet, at, to), next: to + 1 };
    } catch (error) {
      if (!(error instanceof SpoiledIndex)) throw error;
      return undefined;
    }
  }

  #countInPart(facet: Facet, from: Seq, to: Seq): number {
    const part = partOf(from);
    const { index } = this.#sources;
    const before = (offset: number): number => countPostings(index, { part, facet, offset });
    const isToEnd = to === (part + 1) * PART_SIZE - 1;
    const upTo = isToEnd ? this.#totalOf(facet, part) : before((to % PART_SIZE) + 1);
    return upTo - (from % PART_SIZE === 0 ? 0 : before(from % PART_SIZE));
  }

  #totalOf(facet: Facet, part: number): number {
    const { index } = this.#sources;
    if (this.#generation !== index.generation) this.#totals.clear();
    this.#generation = index.generation;
    const key = facetKey(Buffer.from(facet), 0);
    const totals = this.#totals.getOrInsertComputed(key, () => new Map());
    return totals.getOrInsertComputed(part, () =>
      countPostings(index, { part, facet, offset: PART_SIZE }),
    );
  }
}
