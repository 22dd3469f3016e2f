/** Finds the entries that have some facets: in the segments, and in the log where those cannot be read. */
import { Turns } from '../../../../fair-turns.ts';
import type { FacetCondition } from '../../../../log/facet.ts';
import type { Order, Seq } from '../../../../log/log.ts';
import type { SeqPage, SeqRange, SeqSource } from '../../seq-source.ts';
import type { SharedState } from '../../shared-state.ts';
import type { SegmentReader } from '../segment-reader.ts';
import type { LogScan } from './log-scan.ts';
import { MatchQuery } from './match-query.ts';
import { SegmentMatches, SegmentUnavailable } from './segment-matches.ts';
import { takeSteps } from './search-turns.ts';

/** Entries of the log that are looked at together, at first and at most. */
const FIRST_WINDOW = 128;
const MAX_WINDOW = 4096;

export interface FacetSources {
  readonly reader: SegmentReader;
  readonly scan: LogScan;
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

export class FacetSource implements SeqSource {
  readonly #sources: FacetSources;
  readonly #query: FacetQuery;
  readonly #match: MatchQuery;
  readonly #step: 1 | -1;
  readonly #turns = new Turns();
  #window = FIRST_WINDOW;

  constructor(sources: FacetSources, query: FacetQuery) {
    this.#sources = sources;
    this.#query = query;
    this.#match = new MatchQuery(query);
    this.#step = query.order === 'newest' ? -1 : 1;
  }

  async page(from: Seq, limit: number): Promise<SeqPage> {
    const { low, high, signal } = this.#query;
    const seqs: Seq[] = [];
    for (let at = from; at >= low && at <= high;) {
      signal?.throwIfAborted();
      const page = await this.#pageAt(at, limit - seqs.length);
      seqs.push(...page.seqs);
      if (seqs.length >= limit) return { seqs, next: page.next };
      at = page.next;
    }
    return { seqs, next: undefined };
  }

  async #pageAt(at: Seq, limit: number): Promise<SeqPage & { readonly next: Seq }> {
    const { low, high, order } = this.#query;
    const place = placeOf(at, this.#sources.shared);
    const range =
      order === 'newest'
        ? { low: Math.max(low, place.low), high: at }
        : { low: at, high: Math.min(high, place.high) };
    const page = await this.#inSegment(place.segment, range, limit);
    if (page === undefined) return await this.#inLog(range, limit);
    return {
      seqs: page.seqs,
      next: page.next ?? (order === 'newest' ? range.low : range.high) + this.#step,
    };
  }

  /** Undefined where the segment cannot be read now, or there is none. */
  async #inSegment(
    segment: number | undefined,
    range: SeqRange,
    limit: number,
  ): Promise<SeqPage | undefined> {
    if (segment === undefined) return undefined;
    const { order } = this.#query;
    const matches = new SegmentMatches(this.#sources.reader, segment, this.#match);
    try {
      return await takeSteps(matches.page({ ...range, order, limit }), this.#turns);
    } catch (error) {
      if (error instanceof SegmentUnavailable) return undefined;
      throw error;
    }
  }

  async #inLog({ low, high }: SeqRange, limit: number): Promise<SeqPage & { readonly next: Seq }> {
    const { facets, order } = this.#query;
    const length = this.#window;
    this.#window = Math.min(MAX_WINDOW, 2 * length);
    const span =
      order === 'newest'
        ? { from: Math.max(low, high - length + 1), to: high }
        : { from: low, to: Math.min(high, low + length - 1) };
    const found = await this.#sources.scan.seqsWith(facets, span, this.#turns);
    const seqs = (order === 'newest' ? found.toReversed() : found).slice(0, limit);
    const last = seqs.at(-1);
    const isCut = found.length > limit && last !== undefined;
    const end = order === 'newest' ? span.from : span.to;
    return { seqs, next: (isCut ? last : end) + this.#step };
  }
}
