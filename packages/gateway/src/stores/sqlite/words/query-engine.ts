/**
 * Answers full-text queries, in the thread of the full-text index, where they delay nothing else.
 * FTS5 matches small entries; `LargeEntries` matches the others.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { openForReading } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SeqPage } from '../seq-source.ts';
import type { FacetSources } from '../index/facet-search.ts';
import { UnindexedTail } from '../index/unindexed-tail.ts';
import type { SharedState } from '../shared-state.ts';
import { facetFilter } from './facet-filter.ts';
import { ftsQuery } from './fts.ts';
import { LargeEntries } from './large-entries.ts';
import type { PageQuery } from './messages.ts';
import { Ranker, requireSearchable } from './ranker.ts';

/** How long one page may take before other queries have their turn. */
const PAGE_MS = 10;
/** Minimum number of matches per page before facets are checked: a page costs as much as many. */
const MIN_MATCHES = 512;
const CACHE_KIB = 2048;

export class QueryEngine {
  readonly #words: DatabaseSync;
  readonly #log: DatabaseSync;
  readonly #facets: FacetSources;
  readonly #large: LargeEntries;
  /** Ranks the matches of a query. */
  readonly ranker: Ranker;
  readonly #ascending: StatementSync;
  readonly #descending: StatementSync;

  constructor(paths: DataPaths, shared: SharedState) {
    this.#words = openForReading(paths.search, CACHE_KIB);
    this.#log = openForReading(paths.log, CACHE_KIB);
    const index = openForReading(paths.index, CACHE_KIB);
    this.#facets = { index, tail: new UnindexedTail(this.#log), shared };
    this.#large = new LargeEntries(this.#words);
    this.ranker = new Ranker(paths.search, this.#facets, this.#large);
    const prepare = (order: 'ASC' | 'DESC'): StatementSync =>
      this.#words.prepare(
        `SELECT rowid AS seq FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid ${order} LIMIT ?`,
      );
    this.#ascending = prepare('ASC');
    this.#descending = prepare('DESC');
  }

  close(): void {
    this.#words.close();
    this.#log.close();
    this.#facets.index.close();
  }

  /** Up to `limit` seqs in their order; it may be fewer, even none, although more follow. */
  page(query: PageQuery): SeqPage {
    requireSearchable(query, this.#facets.shared);
    if (query.facets.length === 0) return this.#matches(query);
    const { order, low, high, facets, limit } = query;
    const newest = order === 'newest';
    const until = newest ? low : high;
    const nextWithFacets = facetFilter(this.#facets, { facets, order, until });
    const seqs: Seq[] = [];
    const started = performance.now();
    for (let at: Seq | undefined = newest ? high : low; at !== undefined;) {
      const range = newest ? { low, high: at } : { low: at, high };
      if (seqs.length >= limit || performance.now() - started > PAGE_MS) return { seqs, next: at };
      const page = this.#matches({ ...query, ...range, limit: Math.max(MIN_MATCHES, limit) });
      at = page.next;
      for (const seq of page.seqs) {
        const next = nextWithFacets(seq);
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
  #matches(query: PageQuery): SeqPage {
    const { textQuery, order, low, high, limit } = query;
    if (low > high) return { seqs: [], next: undefined };
    const newest = order === 'newest';
    const step = newest ? -1 : 1;
    const statement = newest ? this.#descending : this.#ascending;
    const rows = statement.all(ftsQuery(textQuery), low, high, limit);
    const small = rows.map((row) => row['seq'] as Seq);
    // Large entries beyond the last small one of a full page belong to the next page.
    const last = small.length < limit ? undefined : small.at(-1);
    const range = newest ? { low: last ?? low, high } : { low, high: last ?? high };
    const large = this.#large.page({ ...query, ...range });
    const seqs = [...small, ...large.seqs].toSorted((a, b) => (b - a) * -step);
    const { next } = large;
    if (next === undefined)
      return cut(seqs, limit, step, last === undefined ? undefined : last + step);
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
