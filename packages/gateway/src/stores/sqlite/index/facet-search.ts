import {
  alternativesAt,
  countConditions,
  type Facet,
  type FacetCondition,
} from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import type { SeqPage, SeqSource } from '../seq-source.ts';
import type { SharedState } from '../shared-state.ts';
import type { IndexConnection } from './index-connection.ts';
import { type LogScan, LogScanCursor } from './log-scan.ts';
import { PostingsCursor, type SeekResult, SpoiledIndex } from './postings.ts';
import type { UnindexedTail } from './unindexed-tail.ts';

/** Lookups without a result that end a page: a few milliseconds of work. */
const MAX_MISSES = 512;
const MAX_PARTS = 64;

export interface FacetSources {
  readonly index: IndexConnection;
  readonly tail: UnindexedTail;
  /** Finds what neither of them has: while the index is made again, or was not checked yet. */
  readonly scan: LogScan;
  readonly shared: SharedState;
}

export interface FacetQuery {
  readonly facets: readonly FacetCondition[];
  readonly order: Order;
  /** The last seq to look at, inclusive. */
  readonly until: Seq;
}

interface FacetCursor {
  readonly facet: Facet;
  readonly postings: PostingsCursor;
  readonly scan: LogScanCursor;
}

/** Where to look: the index has the seqs from `first` to `last`, the tail those from `tail` on. */
export interface Places {
  readonly first: Seq;
  readonly last: Seq;
  readonly tail: Seq;
}

/** The facets of one condition. Made where it is looked up first: most entries fail the first few. */
interface ConditionCursor {
  readonly cursors: readonly FacetCursor[];
  /** What each cursor found last. It counts until the search has passed it. */
  readonly found: (SeekResult | undefined)[];
}

/** Finds the seqs for which all of some conditions hold, in the index and the unindexed tail. */
export class FacetSearch implements SeqSource {
  readonly #facets: readonly FacetCondition[];
  readonly #count: number;
  /** Of the first conditions. Those that hold for few entries come first, as far as that has shown. */
  readonly #conditions: ConditionCursor[] = [];
  /** A round over many conditions that is not at its end. */
  #round: { readonly from: Seq; readonly at: number; readonly common: Seq | undefined } | undefined;
  readonly #order: Order;
  readonly #step: 1 | -1;
  readonly #until: Seq;
  readonly #sources: FacetSources;

  constructor(sources: FacetSources, { facets, order, until }: FacetQuery) {
    this.#order = order;
    this.#step = order === 'newest' ? -1 : 1;
    this.#until = until;
    this.#sources = sources;
    this.#facets = facets;
    this.#count = countConditions(facets);
  }

  page(from: Seq, limit: number): SeqPage {
    for (;;) {
      try {
        return this.#pageIn(placesOf(this.#sources), from, limit);
      } catch (error) {
        // The index is not looked into again until it has been made again.
        if (!(error instanceof SpoiledIndex)) throw error;
      }
    }
  }

  #pageIn(places: Places, from: Seq, limit: number): SeqPage {
    const seqs: Seq[] = [];
    let at = from;
    for (let work = 0; seqs.length < limit; work += 1) {
      if (work >= limit + MAX_MISSES) return { seqs, next: at };
      const found = this.#intersect(at, places);
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
  #intersect(from: Seq, places: Places): SeekResult {
    const round = this.#round?.from === from ? this.#round : { at: 0, common: undefined };
    this.#round = undefined;
    let { common } = round;
    for (let { at } = round; at < this.#count; at += 1) {
      if (at - round.at === MAX_MISSES) {
        this.#round = { from, at, common };
        return { nothingUntil: from, parts: Infinity };
      }
      const found = this.#seekAny(this.#cursorAt(at), common ?? from, places);
      if (found === 'none') return found;
      if ('nothingUntil' in found || (common !== undefined && found.seq !== common)) {
        this.#putFirst(at);
        return 'nothingUntil' in found ? found : { nothingUntil: found.seq, parts: 0 };
      }
      common = found.seq;
    }
    return common === undefined ? 'none' : { seq: common };
  }

  #cursorAt(at: number): ConditionCursor {
    const known = this.#conditions[at];
    if (known !== undefined) return known;
    const { index, scan } = this.#sources;
    const cursors = alternativesAt(this.#facets, at).map((facet) => ({
      facet,
      postings: new PostingsCursor(index, facet, this.#order),
      scan: new LogScanCursor(scan, facet, this.#order),
    }));
    return (this.#conditions[at] = { cursors, found: [] });
  }

  /** What nearly all entries have, such as a kind, is looked up last: only where the others hold. */
  #putFirst(at: number): void {
    if (at > 0) this.#conditions.unshift(...this.#conditions.splice(at, 1));
  }

  /** The nearest of what the cursors of a condition find. */
  #seekAny({ cursors, found }: ConditionCursor, from: Seq, places: Places): SeekResult {
    const [only] = cursors;
    if (only !== undefined && cursors.length === 1) return this.#seek(only, from, places);
    let nearest: SeekResult = 'none';
    for (const [index, cursor] of cursors.entries()) {
      let result = found[index];
      if (result === undefined || this.#isPassed(result, from)) {
        result = this.#seek(cursor, from, places);
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

  /** Goes from place to place, up to the first result. */
  #seek(cursor: FacetCursor, from: Seq, places: Places): SeekResult {
    for (let at = from; (this.#until - at) * this.#step >= 0;) {
      const [low, high] = placeOf(at, places);
      const until = this.#step < 0 ? Math.max(this.#until, low) : Math.min(this.#until, high);
      const found = this.#seekIn(cursor, at, until, places);
      if (found !== 'none') return found;
      at = this.#step < 0 ? low - 1 : high + 1;
    }
    return 'none';
  }

  #seekIn(cursor: FacetCursor, from: Seq, until: Seq, places: Places): SeekResult {
    const { facet, postings, scan } = cursor;
    if (from >= places.tail) {
      const seq = this.#sources.tail.seek(facet, from, until, this.#order);
      return seq === undefined ? 'none' : { seq };
    }
    const isIndexed = from >= places.first && from <= places.last;
    return isIndexed ? postings.seek(from, until, MAX_PARTS) : scan.seek(from, until);
  }
}

export function placesOf({ tail, shared }: FacetSources): Places {
  const { head, indexed, indexSpoiled } = shared;
  const last = indexSpoiled ? 0 : indexed;
  tail.update(last, head);
  return { first: shared.indexChecked, last, tail: Math.max(tail.start, last + 1) };
}

/** The first and the last seq that are looked up in the same place. */
export function placeOf(seq: Seq, { first, last, tail }: Places): readonly [Seq, Seq] {
  if (seq >= tail) return [tail, Infinity];
  if (seq > last) return [last + 1, tail - 1];
  return seq >= first ? [first, last] : [1, first - 1];
}

function positionOf(result: Exclude<SeekResult, 'none'>): Seq {
  return 'seq' in result ? result.seq : result.nothingUntil;
}
