/**
 * Searches for words, in the segments' thread, where it delays nothing else. All work is steps of bounded
 * length, between which others have their turn and a search can be ended. A segment that is being made again
 * is waited for.
 *
 * Invariant: Search finds entries by their words, in any script and of any size, and by nothing
 *   else.
 * Test: `test/log-contract/searching.ts` “finds what was said in any script, the best first” “looks
 *   into large entries from end to end”
 * Test: `packages/gateway/src/stores/sqlite/segments/search/words.test.ts` “are found as a plain
 *   list finds them, in the same order” “of very many entries are ranked in sections: each result
 *   once, whatever was skipped”
 */
import { GatewayError } from '@open-presence/protocol';

import type { SeqPage } from '../../seq-source.ts';
import type { WithheldRanges } from '../../withholding/withheld-ranges.ts';
import type { SharedState } from '../../shared-state.ts';
import type { SegmentReader } from '../segment-reader.ts';
import { pageAcross } from './facet-source.ts';
import { MatchQuery } from './match-query.ts';
import type { PageRequest } from './search-calls.ts';
import type { SearchSteps } from './search-steps.ts';
import { SegmentMatches, SegmentUnavailable } from './segment-matches.ts';

/** A segment that cannot be read now is tried again this often. */
const MAX_TRIES = 4;

export interface SearchContext {
  readonly reader: SegmentReader;
  readonly shared: SharedState;
  readonly withheld: WithheldRanges;
  /** Resolves when the segment can be read. */
  readonly available: (number: number) => Promise<void>;
  /** For tests: see `ranker.ts`. */
  readonly maxRanked?: number;
}

/** Up to `limit` matches in the order of the log. */
export function pageOfMatches(context: SearchContext, wanted: PageRequest): SearchSteps<SeqPage> {
  const query = new MatchQuery(wanted);
  const { segments } = context.shared;
  return pageAcross(context.shared, wanted, (part) =>
    inSegment(context, segments.numberOf(part.low), query, (matches) => matches.page(part)),
  );
}

/** Takes the steps after the segment has become readable. Starts again if it becomes unreadable. */
export function* inSegment<T>(
  { reader, available }: SearchContext,
  number: number,
  query: MatchQuery,
  steps: (matches: SegmentMatches) => SearchSteps<T>,
): SearchSteps<T> {
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
