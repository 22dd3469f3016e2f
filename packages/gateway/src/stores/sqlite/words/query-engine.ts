/**
 * Answers full-text queries, in the thread of the full-text index, where they delay nothing else. All
 * work is steps of bounded length, between which others have their turn and a search can be ended:
 * no statement stays open, and none reads more than one part of the index.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { openForReading } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SeqPage, SeqRange } from '../seq-source.ts';
import type { FacetSources } from '../index/facet-search.ts';
import { IndexConnection } from '../index/index-connection.ts';
import { LogScan } from '../index/log-scan.ts';
import { UnindexedTail } from '../index/unindexed-tail.ts';
import { BlockReader } from '../log/block-reader.ts';
import type { SharedState } from '../shared-state.ts';
import { facetFilter } from './facet-filter.ts';
import { LargeEntries } from './large-entries.ts';
import type { PageQuery } from './messages.ts';
import { PartReader } from './parts.ts';
import { Ranker, requireSearchable } from './ranker.ts';
import type { SearchSteps } from './search-turns.ts';
import { SmallEntries } from './small-entries.ts';

/** Minimum number of matches per page before facets are checked: a page costs as much as many. */
const MIN_MATCHES = 512;
const CACHE_KIB = 2048;
/** For the words, whose parts all searches read in turns. */
const WORDS_CACHE_KIB = 8192;

export class QueryEngine {
  readonly #words: DatabaseSync;
  readonly #log: DatabaseSync;
  readonly #facets: FacetSources;
  readonly #small: SmallEntries;
  readonly #large: LargeEntries;
  /** Ranks the matches of a query. */
  readonly ranker: Ranker;

  /** `maxRanked`: see `Ranker`. */
  constructor(paths: DataPaths, shared: SharedState, maxRanked?: number) {
    this.#words = openForReading(paths.search, WORDS_CACHE_KIB);
    this.#log = openForReading(paths.log, CACHE_KIB);
    const index = new IndexConnection(paths, shared, CACHE_KIB);
    const version = (): number => shared.withheld;
    const blocks = new BlockReader(this.#log, version);
    const tail = new UnindexedTail(blocks, version);
    const scan = new LogScan(blocks, paths);
    const words = this.#words;
    const parts = new PartReader(words);
    const facets = { index, tail, scan, shared };
    const small = new SmallEntries(words, parts);
    const large = new LargeEntries(words, parts);
    this.#facets = facets;
    this.#small = small;
    this.#large = large;
    this.ranker = new Ranker({ words, parts, facets, small, large }, maxRanked);
  }

  close(): void {
    this.#words.close();
    this.#log.close();
    this.#facets.index.close();
  }

  /** Up to `limit` seqs in their order; it may be fewer, even none, although more follow. */
  *page(query: PageQuery): SearchSteps<SeqPage> {
    requireSearchable(query, this.#facets.shared);
    if (query.facets.length === 0) return yield* this.#matches(query);
    const { order, low, high, facets, limit } = query;
    const newest = order === 'newest';
    const until = newest ? low : high;
    const nextWithFacets = facetFilter(this.#facets, { facets, order, until });
    const seqs: Seq[] = [];
    for (let at: Seq | undefined = newest ? high : low; at !== undefined;) {
      const range: SeqRange = newest ? { low, high: at } : { low: at, high };
      const page: SeqPage = yield* this.#matches({
        ...query,
        ...range,
        limit: Math.max(MIN_MATCHES, limit),
      });
      at = page.next;
      for (const seq of page.seqs) {
        yield;
        const next = yield* nextWithFacets(seq);
        if (next === undefined) return { seqs, next: undefined };
        if (next === seq) seqs.push(seq);
        // Nothing before `next` has the facets: skip it.
        else if (at !== undefined) at = newest ? Math.min(at, next) : Math.max(at, next);
        if (seqs.length === limit) return { seqs, next: seq + (newest ? -1 : 1) };
      }
    }
    return { seqs, next: undefined };
  }

  /** Ignores facets. */
  *#matches(query: PageQuery): SearchSteps<SeqPage> {
    const { order, low, high, limit } = query;
    if (low > high) return { seqs: [], next: undefined };
    const newest = order === 'newest';
    const step = newest ? -1 : 1;
    const small = yield* this.#small.page(query);
    // Large entries beyond the last small one of a full page belong to the next page.
    const last = small.next === undefined ? undefined : small.seqs.at(-1);
    const range = newest ? { low: last ?? low, high } : { low, high: last ?? high };
    const large = yield* this.#large.page({ ...query, ...range });
    const seqs = [...small.seqs, ...large.seqs].toSorted((a, b) => (b - a) * -step);
    const { next } = large;
    if (next === undefined) return cut(seqs, limit, step, small.next);
    // Large entries from `next` on have not been looked at: end the page there.
    return cut(
      seqs.filter((seq) => (next - seq) * step > 0),
      limit,
      step,
      next,
    );
  }
}

/** A page of at most `limit` seqs. `next`: where to continue after all of them. */
function cut(seqs: Seq[], limit: number, step: 1 | -1, next: Seq | undefined): SeqPage {
  if (seqs.length <= limit) return { seqs, next };
  const page = seqs.slice(0, limit);
  return { seqs: page, next: (page.at(-1) ?? 0) + step };
}
