import type { DatabaseSync } from 'node:sqlite';

import { alternatives, type FacetCondition } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import type { SeqPage, SeqSource } from '../seq-source.ts';
import type { SharedState } from '../shared-state.ts';
import { type PostingsCursor, postingsCursors, type SeekResult } from './postings.ts';
import type { UnindexedTail } from './unindexed-tail.ts';

/** Lookups without a result that end a page: a few milliseconds of work. */
const MAX_MISSES = 512;
const MAX_PARTS = 64;

export interface FacetSources {
  readonly index: DatabaseSync;
  readonly tail: UnindexedTail;
  readonly shared: SharedState;
}

export interface FacetQuery {
  readonly facets: readonly FacetCondition[];
  readonly order: Order;
  /** The last seq to look at, inclusive. */
  readonly until: Seq;
}

/** The postings of the facets of one condition. */
interface ConditionCursor {
  readonly cursors: readonly PostingsCursor[];
  /** What each cursor found last. It counts until the search has passed it. */
  readonly found: (SeekResult | undefined)[];
}

/** Finds the seqs for which all of some conditions hold, in the index and the unindexed tail. */
export class FacetSearch implements SeqSource {
  readonly #conditions: readonly ConditionCursor[];
  readonly #order: Order;
  readonly #step: 1 | -1;
  readonly #until: Seq;
  readonly #sources: FacetSources;

  constructor(sources: FacetSources, { facets, order, until }: FacetQuery) {
    this.#order = order;
    this.#step = order === 'newest' ? -1 : 1;
    this.#until = until;
    this.#sources = sources;
    const cursorOf = postingsCursors(sources.index, order);
    this.#conditions = facets.map((condition) => {
      return { cursors: alternatives(condition).map((facet) => cursorOf(facet)), found: [] };
    });
  }

  page(from: Seq, limit: number): SeqPage {
    const { tail, shared } = this.#sources;
    const { indexed } = shared;
    tail.update(indexed, shared.head);
    const seqs: Seq[] = [];
    let at = from;
    for (let work = 0; seqs.length < limit; work += 1) {
      if (work >= limit + MAX_MISSES) return { seqs, next: at };
      const found = this.#intersect(at, indexed);
      if (found === 'none') return { seqs, next: undefined };
      if ('seq' in found) {
        seqs.push(found.seq);
        at = found.seq + this.#step;
      } else {
        at = found.nothingUntil;
        work += found.parts;
      }
    }
    return { seqs, next: at };
  }

  /** One round over all conditions: the seq that meets all, or the first seq that may meet all. */
  #intersect(from: Seq, indexed: Seq): SeekResult {
    let common: Seq | undefined;
    for (const condition of this.#conditions) {
      const found = this.#seekAny(condition, common ?? from, indexed);
      if (found === 'none' || 'nothingUntil' in found) return found;
      if (common !== undefined && found.seq !== common)
        return { nothingUntil: found.seq, parts: 0 };
      common = found.seq;
    }
    return common === undefined ? 'none' : { seq: common };
  }

  /** The nearest of what the cursors of a condition find. */
  #seekAny({ cursors, found }: ConditionCursor, from: Seq, indexed: Seq): SeekResult {
    const [only] = cursors;
    if (only !== undefined && cursors.length === 1) return this.#seek(only, from, indexed);
    let nearest: SeekResult = 'none';
    for (const [index, cursor] of cursors.entries()) {
      let result = found[index];
      if (result === undefined || this.#isPassed(result, from)) {
        result = this.#seek(cursor, from, indexed);
        found[index] = result;
      }
      if (this.#isNearer(result, nearest)) nearest = result;
    }
    return nearest;
  }

  #isPassed(result: SeekResult, from: Seq): boolean {
    if (result === 'none') return false;
    // At `nothingUntil`, the search goes on.
    if ('nothingUntil' in result) return (result.nothingUntil - from) * this.#step <= 0;
    return (result.seq - from) * this.#step < 0;
  }

  #isNearer(result: SeekResult, other: SeekResult): boolean {
    if (result === 'none') return false;
    return other === 'none' || (positionOf(result) - positionOf(other)) * this.#step < 0;
  }

  #seek(postings: PostingsCursor, from: Seq, indexed: Seq): SeekResult {
    const { facet } = postings;
    const { tail } = this.#sources;
    if (this.#step < 0) {
      if (from > indexed) {
        const seq = tail.seek(facet, from, Math.max(this.#until, indexed + 1), this.#order);
        if (seq !== undefined) return { seq };
      }
      return postings.seek(Math.min(from, indexed), this.#until, MAX_PARTS);
    }
    if (from <= indexed) {
      const found = postings.seek(from, Math.min(this.#until, indexed), MAX_PARTS);
      if (found !== 'none') return found;
    }
    const seq = tail.seek(facet, Math.max(from, indexed + 1), this.#until, this.#order);
    return seq === undefined ? 'none' : { seq };
  }
}

function positionOf(result: Exclude<SeekResult, 'none'>): Seq {
  return 'seq' in result ? result.seq : result.nothingUntil;
}
