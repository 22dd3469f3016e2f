import type { DatabaseSync } from 'node:sqlite';

import type { Facet } from '../../../log/facet.ts';
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
  readonly facets: readonly Facet[];
  readonly order: Order;
  /** The last seq to look at, inclusive. */
  readonly until: Seq;
}

/** Finds the seqs that have all of some facets, in the index and the unindexed tail. */
export class FacetSearch implements SeqSource {
  readonly #cursors: readonly PostingsCursor[];
  readonly #order: Order;
  readonly #step: 1 | -1;
  readonly #until: Seq;
  readonly #sources: FacetSources;

  constructor(sources: FacetSources, { facets, order, until }: FacetQuery) {
    this.#order = order;
    this.#step = order === 'newest' ? -1 : 1;
    this.#until = until;
    this.#sources = sources;
    this.#cursors = facets.map(postingsCursors(sources.index, order));
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

  /** One round over all facets: the seq that all have, or the first seq that all may have. */
  #intersect(from: Seq, indexed: Seq): SeekResult {
    let common: Seq | undefined;
    for (const cursor of this.#cursors) {
      const found = this.#seek(cursor, common ?? from, indexed);
      if (found === 'none' || 'nothingUntil' in found) return found;
      if (common !== undefined && found.seq !== common)
        return { nothingUntil: found.seq, parts: 0 };
      common = found.seq;
    }
    return common === undefined ? 'none' : { seq: common };
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
