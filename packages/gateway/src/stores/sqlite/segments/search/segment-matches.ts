/** Matches in one segment, by bounded statements. Throws `SegmentUnavailable` where it cannot be read now. */
import type { Order, Seq } from '../../../../log/log.ts';
import type { SeqPage, SeqRange } from '../../seq-source.ts';
import type { IndexConnection } from '../segment-database.ts';
import type { SegmentReader } from '../segment-reader.ts';
import { IN_ROWS, type MatchQuery } from './match-query.ts';
import type { SearchSteps } from './search-steps.ts';

/** The least number of seqs to look for, if some are dropped afterwards. */
const MIN_CANDIDATES = 512;

const ALL = `SELECT rowid AS id FROM texts WHERE texts MATCH ? AND ${IN_ROWS}`;
const OLDEST = `${ALL} ORDER BY rowid LIMIT ?`;
const NEWEST = `${ALL} ORDER BY rowid DESC LIMIT ?`;

/** Part of a segment, and how much of it is wanted. */
export interface PageOf extends SeqRange {
  readonly order: Order;
  readonly limit: number;
}

/** Thrown if a segment cannot be read now: the log has to be read instead. */
export class SegmentUnavailable extends Error {}

export class SegmentMatches {
  readonly #reader: SegmentReader;
  readonly #number: number;
  readonly #query: MatchQuery;

  constructor(reader: SegmentReader, number: number, query: MatchQuery) {
    this.#reader = reader;
    this.#number = number;
    this.#query = query;
  }

  *read<T>(read: (index: IndexConnection) => T): SearchSteps<T> {
    yield;
    const found = yield* this.#reader.steps(this.#number, read);
    if (found === undefined) throw new SegmentUnavailable();
    return found.value;
  }

  /** Up to `limit` seqs in order. May return fewer, even none, although more follow. */
  *page({ order, low, high, limit }: PageOf): SearchSteps<SeqPage> {
    const step = order === 'newest' ? -1 : 1;
    const sql = order === 'newest' ? NEWEST : OLDEST;
    const { first, rest, common } = this.#query;
    // Alternatives may be many statements.
    const mayMatch =
      common === undefined || (yield* this.#ids(sql, common, low, high, 1)).length > 0;
    if (!mayMatch) return { seqs: [], next: undefined };
    const most = rest.length === 0 ? limit : Math.max(limit, MIN_CANDIDATES);
    const found = new Set<Seq>();
    for (const query of first())
      for (const seq of yield* this.#ids(sql, query, low, high, most)) found.add(seq);
    const candidates = [...found].toSorted((a, b) => (a - b) * step).slice(0, most);
    const last = candidates.at(-1);
    const next = candidates.length < most || last === undefined ? undefined : last + step;
    const seqs = yield* this.#filter(candidates);
    if (seqs.length <= limit) return { seqs, next };
    return { seqs: seqs.slice(0, limit), next: (seqs[limit - 1] ?? 0) + step };
  }

  /** The seqs among these for which `rest` holds. */
  *#filter(seqs: Seq[]): SearchSteps<Seq[]> {
    let left = seqs;
    for (const { queries, isExcluded } of this.#query.rest) {
      const [one = 0, other = 0] = [left[0], left.at(-1)];
      const found = new Set<Seq>();
      for (const query of left.length === 0 ? [] : queries())
        for (const seq of yield* this.#ids(ALL, query, Math.min(one, other), Math.max(one, other)))
          found.add(seq);
      left = left.filter((seq) => found.has(seq) !== isExcluded);
    }
    return left;
  }

  *#ids(sql: string, ...parameters: (string | number)[]): SearchSteps<readonly number[]> {
    const rows = yield* this.read((index) => index.statement(sql).all(...parameters));
    return rows.map(({ id }) => id as number);
  }
}
