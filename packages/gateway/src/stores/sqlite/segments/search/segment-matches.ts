/**
 * Finds the entries of one segment that match. All work is statements of bounded length, between which
 * others have their turn. Each function returns undefined where the segment cannot be read now.
 */
import type { Order, Seq } from '../../../../log/log.ts';
import type { SeqPage, SeqRange } from '../../seq-source.ts';
import type { IndexConnection } from '../segment-database.ts';
import type { SegmentReader } from '../segment-reader.ts';
import {
  largeRowId,
  lastLargeRowId,
  type MatchQuery,
  type RowCondition,
  seqOfLargeRow,
} from './match-query.ts';
import type { SearchSteps } from './search-turns.ts';

/** Seqs that are looked for at least, where some are dropped afterwards. */
const MIN_CANDIDATES = 512;
/** Rows of large entries that are looked at together. */
const LARGE_ROWS = 4096;

const ALL = 'SELECT rowid AS seq FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?';
const OLDEST = `${ALL} ORDER BY rowid LIMIT ?`;
const NEWEST = `${ALL} ORDER BY rowid DESC LIMIT ?`;
// Read as large numbers.
const LARGE = `SELECT rowid AS id FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?
  ORDER BY rowid LIMIT ?`;
const HAS_LARGE = "SELECT 1 FROM state WHERE name = 'larges'";

/** Part of a segment, and how much of it is wanted. */
export interface PageOf extends SeqRange {
  readonly order: Order;
  readonly limit: number;
}

/** Thrown where a segment cannot be read now: the log has to be read in its place. */
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

  /** Up to `limit` seqs in their order; it may be fewer, even none, although more follow. */
  *page(wanted: PageOf): SearchSteps<SeqPage> {
    const { order, low, high, limit } = wanted;
    if (low > high) return { seqs: [], next: undefined };
    const step = order === 'newest' ? -1 : 1;
    const small = yield* this.#smallPage(wanted);
    if (!(yield* this.hasLarge())) return small;
    // Large entries beyond the last small one of a full page belong to the next page.
    const end = small.next === undefined ? undefined : small.next - step;
    const range = order === 'newest' ? { low: end ?? low, high } : { low, high: end ?? high };
    const large = yield* this.largePage({ ...range, order, limit });
    // Those from `next` on have not been looked at: the page ends there.
    const seqs = [...small.seqs, ...large.seqs]
      .filter((seq) => large.next === undefined || (large.next - seq) * step > 0)
      .toSorted((a, b) => (a - b) * step);
    if (seqs.length > limit) {
      const page = seqs.slice(0, limit);
      return { seqs: page, next: (page.at(-1) ?? 0) + step };
    }
    return { seqs, next: large.next ?? small.next };
  }

  /** The large entries alone. */
  *largePage({ low, high, order, limit }: PageOf): SearchSteps<SeqPage> {
    const seqs: Seq[] = [];
    let candidates: Seq[] | undefined;
    for (const condition of this.#query.leading) {
      const found = yield* this.#largeSeqs(condition, { low, high });
      candidates = (candidates ?? [...found]).filter((seq) => found.has(seq));
      if (candidates.length === 0) break;
    }
    for (const seq of candidates?.toSorted((a, b) => (order === 'newest' ? b - a : a - b)) ?? []) {
      if (seqs.length >= limit) return { seqs, next: seq };
      if (yield* this.#largeMatches(seq)) seqs.push(seq);
    }
    return { seqs, next: undefined };
  }

  *hasLarge(): SearchSteps<boolean> {
    return yield* this.read((index) => index.statement(HAS_LARGE).get() !== undefined);
  }

  /** The seqs among these for which `rest` holds. */
  *filter(seqs: readonly Seq[]): SearchSteps<readonly Seq[]> {
    let left = seqs;
    for (const { queries, isExcluded } of this.#query.rest) {
      const [one = 0, other = 0] = [left[0], left.at(-1)];
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const found = new Set<Seq>();
      for (const query of left.length === 0 ? [] : queries()) {
        const rows = yield* this.read((index) => index.statement(ALL).all(query, low, high));
        for (const { seq } of rows) found.add(seq as Seq);
      }
      left = left.filter((seq) => found.has(seq) !== isExcluded);
    }
    return left;
  }

  *read<T>(read: (index: IndexConnection) => T): SearchSteps<T> {
    yield;
    const found = yield* this.#reader.steps(this.#number, read);
    if (found === undefined) throw new SegmentUnavailable();
    return found.value;
  }

  *#smallPage({ order, low, high, limit }: PageOf): SearchSteps<SeqPage> {
    const { first, rest } = this.#query;
    const most = rest.length === 0 ? limit : Math.max(limit, MIN_CANDIDATES);
    const sql = order === 'newest' ? NEWEST : OLDEST;
    const found = new Set<Seq>();
    for (const query of first.queries()) {
      const rows = yield* this.read((index) => index.statement(sql).all(query, low, high, most));
      for (const { seq } of rows) found.add(seq as Seq);
    }
    const step = order === 'newest' ? -1 : 1;
    const candidates = [...found].toSorted((a, b) => (a - b) * step).slice(0, most);
    const last = candidates.at(-1);
    const next = candidates.length < most || last === undefined ? undefined : last + step;
    const seqs = [...(yield* this.filter(candidates))];
    if (seqs.length <= limit) return { seqs, next };
    return { seqs: seqs.slice(0, limit), next: (seqs[limit - 1] ?? 0) + step };
  }

  /** The large entries for which the condition holds. */
  *#largeSeqs({ queries }: RowCondition, range: SeqRange): SearchSteps<Set<Seq>> {
    const seqs = new Set<Seq>();
    for (const query of queries()) {
      for (let at = largeRowId(range.low, 0); ;) {
        const end = lastLargeRowId(range.high);
        const rows = yield* this.#largeRows(query, at, end, LARGE_ROWS);
        for (const row of rows) seqs.add(seqOfLargeRow(row));
        const last = rows.at(-1);
        if (last === undefined || rows.length < LARGE_ROWS) break;
        // The other rows of the same entry say nothing new.
        at = lastLargeRowId(seqOfLargeRow(last)) + 1n;
      }
    }
    return seqs;
  }

  /** Whether all but the leading conditions hold. */
  *#largeMatches(seq: Seq): SearchSteps<boolean> {
    for (const { queries, isExcluded } of this.#query.single()) {
      let holds = false;
      for (const query of queries()) {
        const rows = yield* this.#largeRows(query, largeRowId(seq, 0), lastLargeRowId(seq), 1);
        holds = rows.length > 0;
        if (holds) break;
      }
      if (holds === isExcluded) return false;
    }
    return true;
  }

  *#largeRows(query: string, low: bigint, high: bigint, limit: number): SearchSteps<bigint[]> {
    const rows = yield* this.read((index) => {
      const statement = index.statement(LARGE);
      statement.setReadBigInts(true);
      return statement.all(query, low, high, limit);
    });
    return rows.map((row) => row['id'] as unknown as bigint);
  }
}
