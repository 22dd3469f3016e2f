/** Matches in one segment, by bounded statements. Throws `SegmentUnavailable` where it cannot be read now. */
import type { Order, Seq } from '../../../../log/log.ts';
import type { SeqPage, SeqRange } from '../../seq-source.ts';
import type { IndexConnection } from '../segment-database.ts';
import type { SegmentReader } from '../segment-reader.ts';
import { IN_ROWS, LargeRows, type MatchQuery, type RowCondition } from './match-query.ts';
import type { SearchSteps } from './search-steps.ts';

/** The least number of seqs to look for, if some are dropped afterwards. */
const MIN_CANDIDATES = 512;
/** Rows of large entries that are looked at together. */
const LARGE_ROWS = 4096;
/** So many large entries are looked at one by one. */
const MAX_SINGLE = 64;

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
  readonly rows: LargeRows;
  /** Whether the segment has large entries; undefined before the first read. */
  #hasLarge: boolean | undefined;

  constructor(reader: SegmentReader, number: number, query: MatchQuery) {
    this.#reader = reader;
    this.#number = number;
    this.#query = query;
    this.rows = new LargeRows(reader.segments.firstOf(number));
  }

  /** Up to `limit` seqs in order. May return fewer, even none, although more follow. */
  *page(wanted: PageOf): SearchSteps<SeqPage> {
    const { order, low, high, limit } = wanted;
    const step = order === 'newest' ? -1 : 1;
    const small = yield* this.#smallPage(wanted, step);
    // Large entries beyond the last small one of a full page belong to the next page.
    const end = small.next === undefined ? undefined : small.next - step;
    const range = order === 'newest' ? { low: end ?? low, high } : { low, high: end ?? high };
    const large = yield* this.largeSeqs(range);
    const seqs = [...small.seqs, ...large].toSorted((a, b) => (a - b) * step);
    if (seqs.length <= limit) return { seqs, next: small.next };
    const page = seqs.slice(0, limit);
    return { seqs: page, next: (page.at(-1) ?? 0) + step };
  }

  /** All large entries: the rows of one match together. */
  *largeSeqs(range: SeqRange): SearchSteps<readonly Seq[]> {
    const hasLarge = this.#hasLarge ?? (yield* this.read((index) => index.hasLarge));
    if (!hasLarge) return [];
    let seqs: readonly Seq[] | undefined;
    for (const condition of this.#query.single()) {
      const found: ReadonlySet<Seq> =
        seqs === undefined || seqs.length > MAX_SINGLE
          ? yield* this.#largeWith(condition, range)
          : yield* this.#among(seqs, condition);
      seqs = (seqs ?? [...found]).filter((seq) => found.has(seq) !== condition.isExcluded);
      if (seqs.length === 0) break;
    }
    return seqs ?? [];
  }

  *read<T>(read: (index: IndexConnection) => T): SearchSteps<T> {
    yield;
    const found = yield* this.#reader.steps(this.#number, (index) => {
      this.#hasLarge = index.hasLarge;
      return read(index);
    });
    if (found === undefined) throw new SegmentUnavailable();
    return found.value;
  }

  *#smallPage({ order, low, high, limit }: PageOf, step: 1 | -1): SearchSteps<SeqPage> {
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

  *#largeWith({ queries }: RowCondition, { low, high }: SeqRange): SearchSteps<Set<Seq>> {
    const seqs = new Set<Seq>();
    for (const query of queries()) {
      for (let at: Seq | undefined = low; at !== undefined;) {
        const [from, to] = [this.rows.first(at), this.rows.last(high)];
        const ids: readonly number[] = yield* this.#ids(OLDEST, query, from, to, LARGE_ROWS);
        for (const id of ids) seqs.add(this.rows.seqOf(id));
        const last = ids.at(-1);
        // The other rows of the same entry say nothing new.
        at = last === undefined || ids.length < LARGE_ROWS ? undefined : this.rows.seqOf(last) + 1;
      }
    }
    return seqs;
  }

  /** Those of these large entries that fulfil the condition. */
  *#among(seqs: readonly Seq[], { queries }: RowCondition): SearchSteps<Set<Seq>> {
    const found = new Set<Seq>();
    for (const seq of seqs) {
      const [from, to] = [this.rows.first(seq), this.rows.last(seq)];
      for (const query of queries())
        if ((yield* this.#ids(OLDEST, query, from, to, 1)).length > 0) {
          found.add(seq);
          break;
        }
    }
    return found;
  }

  *#ids(sql: string, ...parameters: (string | number)[]): SearchSteps<readonly number[]> {
    const rows = yield* this.read((index) => index.statement(sql).all(...parameters));
    return rows.map(({ id }) => id as number);
  }
}
