/**
 * Answers text queries, in the segments' thread, where they delay nothing else. All work is steps of
 * bounded length, between which others have their turn and a search can be ended. A segment that is being made
 * again is waited for.
 */
import { GatewayError } from '@open-presence/protocol';

import type { Seq } from '../../../../log/log.ts';
import type { SeqPage } from '../../seq-source.ts';
import type { SharedSegments } from '../../shared-segments.ts';
import type { SegmentReader } from '../segment-reader.ts';
import { MatchQuery } from './match-query.ts';
import type { PageQuery } from './messages.ts';
import { type InSegment, Ranker } from './ranker.ts';
import type { SearchSteps } from './search-turns.ts';
import { SegmentMatches, SegmentUnavailable } from './segment-matches.ts';

/** A segment that cannot be read now is tried again this often. */
const MAX_TRIES = 4;

export interface QueryContext {
  readonly reader: SegmentReader;
  readonly segments: SharedSegments;
  /** Resolves when the segment can be read. */
  readonly available: (number: number) => Promise<void>;
}

export class QueryEngine {
  readonly #context: QueryContext;
  readonly ranker: Ranker;

  /** `maxRanked`: see `Ranker`. */
  constructor(context: QueryContext, maxRanked?: number) {
    this.#context = context;
    const inSegment: InSegment = (number, query, steps) => this.#inSegment(number, query, steps);
    this.ranker = new Ranker(context.segments, inSegment, maxRanked);
  }

  /** Up to `limit` seqs in their order. */
  *page({ order, low, high, limit, ...conditions }: PageQuery): SearchSteps<SeqPage> {
    const { segments } = this.#context;
    const query = new MatchQuery(conditions);
    const newest = order === 'newest';
    const seqs: Seq[] = [];
    for (let at = newest ? high : low; at >= low && at <= high;) {
      const number = segments.numberOf(at);
      const range = newest
        ? { low: Math.max(low, segments.firstOf(number)), high: at }
        : { low: at, high: Math.min(high, segments.lastOf(number)) };
      const wanted = { ...range, order, limit: limit - seqs.length };
      const page = yield* this.#inSegment(number, query, (matches) => matches.page(wanted));
      seqs.push(...page.seqs);
      at = page.next ?? (newest ? range.low - 1 : range.high + 1);
      if (seqs.length >= limit) return { seqs, next: at >= low && at <= high ? at : undefined };
    }
    return { seqs, next: undefined };
  }

  *#inSegment<T>(
    number: number,
    query: MatchQuery,
    steps: (matches: SegmentMatches) => SearchSteps<T>,
  ): SearchSteps<T> {
    const { reader, available } = this.#context;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      try {
        return yield* steps(new SegmentMatches(reader, number, query));
      } catch (error) {
        if (!(error instanceof SegmentUnavailable)) throw error;
        yield available(number);
      }
    }
    throw new GatewayError('unavailable', 'Cannot search now: the index cannot be read.');
  }
}
