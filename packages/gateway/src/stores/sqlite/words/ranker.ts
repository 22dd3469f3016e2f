/** Ranks all matches of a query by BM25. */
import type { DatabaseSync } from 'node:sqlite';

import { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Seq } from '../../../log/log.ts';
import { openForReading } from '../database.ts';
import type { FacetSources } from '../index/facet-search.ts';
import type { SharedState } from '../shared-state.ts';
import { atMostWithFacets, facetFilter } from './facet-filter.ts';
import { ftsQuery, joinTerms, largeRowId, lastLargeRowId, seqOfLargeRow } from './fts.ts';
import { isOneTerm, type LargeEntries } from './large-entries.ts';
import type { MatchQuery } from './messages.ts';

/** A match. The lower its rank, the better. */
export interface RankedSeq {
  readonly rank: number;
  readonly seq: Seq;
}

/** Takes matches in any order. */
export interface RankSink {
  /** Matches of this rank or above are not needed. It may decrease as matches are added. */
  readonly maxRank: number;
  add(match: RankedSeq): void;
}

/** Rankings at the same time: each has open files, and a cache. */
const MAX_RANKINGS = 8;
/** After this many rows, the query is started again with a lower maximum rank, if there is one. */
const ROWS_PER_QUERY = 4096;
/** If no more entries have the facets, only these are ranked. */
const MAX_CANDIDATES = 16 * 1024;

// Returning a row costs more than ranking two. Every 1024th is returned only to yield the thread.
const rowsWhere = (condition: string): string =>
  `SELECT rowid AS seq, bm25(texts) AS rank FROM texts
   WHERE texts MATCH ? AND rowid BETWEEN ? AND ? AND (rowid & 1023 = 0 OR ${condition})
   ORDER BY rowid DESC`;
const RANK_ALL = rowsWhere('bm25(texts) < ?');
const RANK_CANDIDATES = rowsWhere(
  'CASE WHEN rowid IN (SELECT value FROM json_each(?)) THEN bm25(texts) < ? END',
);
const RANK_LARGE = `SELECT rowid, bm25(texts) AS rank FROM texts
  WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid`;

/** Throws while the index is rebuilt, because it would find only some of the matches. */
export function requireSearchable({ high }: MatchQuery, { searched }: SharedState): void {
  if (high <= searched) return;
  throw new GatewayError(
    'unavailable',
    `Cannot search now: the search index is being rebuilt up to seq ${high}. Try again in a moment.`,
  );
}

type YieldTurn = () => Promise<void>;

export class Ranker {
  readonly #file: string;
  readonly #facets: FacetSources;
  readonly #large: LargeEntries;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** `file`: the database of the full-text index. */
  constructor(file: string, facets: FacetSources, large: LargeEntries) {
    this.#file = file;
    this.#facets = facets;
    this.#large = large;
  }

  /** Adds all matches to the sink, except those that it does not need. */
  async rank(query: MatchQuery, sink: RankSink): Promise<void> {
    if (this.#running < MAX_RANKINGS) this.#running += 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      requireSearchable(query, this.#facets.shared);
      const yieldTurn = yieldPeriodically();
      // An open statement pins the snapshot of its connection, and pages need the latest one.
      using words = openForReading(this.#file, 1024);
      await this.#rankSmall(words, query, sink, yieldTurn);
      await this.#rankLarge(words, query, sink, yieldTurn);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Newest first, so that of equals the older ones need not be returned. */
  async #rankSmall(
    words: DatabaseSync,
    query: MatchQuery,
    sink: RankSink,
    yieldTurn: YieldTurn,
  ): Promise<void> {
    const { textQuery, facets, low, high } = query;
    const candidates =
      facets.length === 0
        ? undefined
        : await atMostWithFacets(this.#facets, MAX_CANDIDATES, query, yieldTurn);
    const filter = candidates === undefined ? [] : [JSON.stringify(candidates)];
    const nextWithFacets = facetFilter(this.#facets, { facets, order: 'newest', until: low });
    for (let at: Seq | undefined = high; at !== undefined;) {
      const { maxRank } = sink;
      const statement = words.prepare(candidates === undefined ? RANK_ALL : RANK_CANDIDATES);
      const rows = statement.iterate(ftsQuery(textQuery), low, at, ...filter, maxRank);
      at = undefined;
      let count = 0;
      for (const row of rows) {
        const { seq, rank } = row as unknown as RankedSeq;
        if (rank < sink.maxRank && nextWithFacets(seq) === seq) sink.add({ seq, rank });
        await yieldTurn();
        count += 1;
        if (count < ROWS_PER_QUERY || sink.maxRank === maxRank) continue;
        at = seq - 1;
        break;
      }
    }
  }

  /** The rank of a large entry is that of its best row. */
  async #rankLarge(
    words: DatabaseSync,
    { textQuery, facets, low, high }: MatchQuery,
    sink: RankSink,
    yieldTurn: YieldTurn,
  ): Promise<void> {
    const nextWithFacets = facetFilter(this.#facets, { facets, order: 'oldest', until: high });
    const addIfMatching = (entry: RankedSeq | undefined): void => {
      if (entry === undefined || nextWithFacets(entry.seq) !== entry.seq) return;
      if (isOneTerm(textQuery) || this.#large.matches(entry.seq, textQuery)) sink.add(entry);
    };
    const statement = words.prepare(RANK_LARGE);
    statement.setReadBigInts(true);
    const anyTerm = joinTerms(textQuery.all, 'OR');
    let entry: RankedSeq | undefined;
    for (const row of statement.iterate(anyTerm, largeRowId(low, 0), lastLargeRowId(high))) {
      const { rowid, rank } = row as { rowid: bigint; rank: number };
      const seq = seqOfLargeRow(rowid);
      if (entry?.seq === seq) entry = { seq, rank: Math.min(rank, entry.rank) };
      else {
        addIfMatching(entry);
        entry = { seq, rank };
      }
      await yieldTurn();
    }
    addIfMatching(entry);
  }
}
