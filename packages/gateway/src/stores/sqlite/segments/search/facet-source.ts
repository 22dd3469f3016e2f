/**
 * Finds the entries that have some facets: in the segments, and in the log where those cannot be
 * read.
 *
 * Invariant: Every filter finds an entry as soon as it is acknowledged.
 * Test: `test/log-contract/filtering.ts` “finds an entry by its kind and by its room as soon as it
 *   is appended”
 * Test: `test/log-contract/many-entries.ts` “lets a writer find at once what it wrote, while 20
 *   others write”
 */
import { Turns } from '../../../../fair-turns.ts';
import type { FacetCondition } from '../../../../log/facet.ts';
import type { Order, Seq } from '../../../../log/log.ts';
import type { SeqPage, SeqRange, SeqSource } from '../../seq-source.ts';
import type { SharedState } from '../../shared-state.ts';
import type { SegmentReader } from '../segment-reader.ts';
import { type ScannedLog, seqsWith } from './log-scan.ts';
import { MatchQuery } from './match-query.ts';
import { type PageOf, SegmentMatches, SegmentUnavailable } from './segment-matches.ts';
import { type SearchSteps, takeSteps } from './search-steps.ts';

/** Entries of the log that are looked at together, at first and at most. */
const FIRST_WINDOW = 128;
const MAX_WINDOW = 4096;

export interface FacetSources extends ScannedLog {
  readonly reader: SegmentReader;
  readonly shared: SharedState;
}

export interface FacetQuery extends SeqRange {
  readonly facets: readonly FacetCondition[];
  readonly order: Order;
  readonly signal: AbortSignal | undefined;
}

/** Seqs that are looked up in the same place. */
export interface Place extends SeqRange {
  /** The segment that has them; undefined if none has them yet. */
  readonly segment: number | undefined;
}

export function placeOf(seq: Seq, { indexed, segments }: SharedState): Place {
  if (seq > indexed) return { segment: undefined, low: indexed + 1, high: Infinity };
  const segment = segments.numberOf(seq);
  const high = Math.min(indexed, segments.lastOf(segment));
  return { segment, low: segments.firstOf(segment), high };
}

/** Up to `limit` seqs in their order, from one place to the next. `find` looks into one of them. */
export function* pageAcross(
  shared: SharedState,
  { order, low, high, limit }: PageOf,
  find: (part: PageOf, segment: number | undefined) => SearchSteps<SeqPage>,
): SearchSteps<SeqPage> {
  const isNewest = order === 'newest';
  const seqs: Seq[] = [];
  let at = isNewest ? high : low;
  while (at >= low && at <= high && seqs.length < limit) {
    const place = placeOf(at, shared);
    const range = isNewest
      ? { low: Math.max(low, place.low), high: at }
      : { low: at, high: Math.min(high, place.high) };
    const page = yield* find({ ...range, order, limit: limit - seqs.length }, place.segment);
    seqs.push(...page.seqs);
    at = page.next ?? (isNewest ? range.low - 1 : range.high + 1);
  }
  return { seqs, next: at >= low && at <= high ? at : undefined };
}

export class FacetSource implements SeqSource {
  readonly #sources: FacetSources;
  readonly #query: FacetQuery;
  readonly #match: MatchQuery;
  readonly #turns: Turns;
  #window = FIRST_WINDOW;

  constructor(sources: FacetSources, query: FacetQuery) {
    this.#sources = sources;
    this.#query = query;
    this.#turns = new Turns(query.signal);
    this.#match = new MatchQuery(query);
  }

  async page(from: Seq, limit: number): Promise<SeqPage> {
    const { low, high, order, signal } = this.#query;
    const range = order === 'newest' ? { low, high: from } : { low: from, high };
    const steps = pageAcross(this.#sources.shared, { ...range, order, limit }, (part, segment) =>
      this.#find(part, segment),
    );
    return await takeSteps(steps, this.#turns, signal);
  }

  *#find(part: PageOf, segment: number | undefined): SearchSteps<SeqPage> {
    try {
      if (segment !== undefined)
        return yield* new SegmentMatches(this.#sources.reader, segment, this.#match).page(part);
    } catch (error) {
      if (!(error instanceof SegmentUnavailable)) throw error;
    }
    return yield* this.#inLog(part);
  }

  /** Looks at some of the entries. */
  *#inLog({ low, high, order, limit }: PageOf): SearchSteps<SeqPage> {
    const isNewest = order === 'newest';
    const from = isNewest ? Math.max(low, high - this.#window + 1) : low;
    const to = isNewest ? high : Math.min(high, low + this.#window - 1);
    this.#window = Math.min(MAX_WINDOW, 2 * this.#window);
    const found = yield* seqsWith(this.#sources, this.#query.facets, { from, to });
    const seqs = (isNewest ? found.toReversed() : found).slice(0, limit);
    const end = isNewest ? from : to;
    const last = (found.length > limit ? seqs.at(-1) : undefined) ?? end;
    return { seqs, next: isNewest ? last - 1 : last + 1 };
  }
}
