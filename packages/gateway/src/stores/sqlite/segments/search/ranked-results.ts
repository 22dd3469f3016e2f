/**
 * Ranked results, a page at a time, from one section after another (see `ranker.ts`). The first page of a
 * section is selected in memory. A reader who goes on gets all further matches of the section ranked
 * once, in a temporary database: so each match comes once, whatever is appended meanwhile, and memory is
 * bounded whatever their number.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Seq } from '../../../../log/log.ts';
import type { SeqRange } from '../../seq-source.ts';
import type { MatchQuery, RankedMatchQuery, RankedPage } from './messages.ts';
import type { RankedSeq, Ranker, RankSink } from './ranker.ts';
import type { SearchSteps } from './search-turns.ts';

const MAX_PAGE = 1024;
/** Maximum number of matches to select from in memory. */
const MAX_IN_MEMORY = 16 * 1024;
/** Matches written to the temporary database at once. */
const WRITE_BATCH = 8192;

/** The results of one query of one reader. */
export class RankedResults implements Disposable {
  readonly #ranker: Ranker;
  readonly #query: RankedMatchQuery;
  #section: SectionResults;
  #left: number;

  constructor(ranker: Ranker, query: RankedMatchQuery) {
    this.#ranker = ranker;
    this.#query = query;
    this.#section = new SectionResults(ranker, query, query.skip);
    this.#left = query.limit;
  }

  /** Must not be called before the page before has been returned. */
  *nextPage(): SearchSteps<RankedPage> {
    for (;;) {
      const page = yield* this.#section.nextPage(Math.min(this.#left, MAX_PAGE));
      this.#left -= page.seqs.length;
      const before = page.section.low;
      const hasOlder = before > this.#query.low;
      if (!page.isLast || !hasOlder) return { ...page, more: !page.isLast };
      const isFull = this.#left === 0 && page.seqs.length > 0;
      if (isFull) return { ...page, more: yield* this.#hasMatchBefore(before) };
      this.#section[Symbol.dispose]();
      const query = { ...this.#query, high: before - 1 };
      this.#section = new SectionResults(this.#ranker, query, this.#section.skip);
      if (page.seqs.length > 0) return { ...page, more: true };
    }
  }

  [Symbol.dispose](): void {
    this.#section[Symbol.dispose]();
  }

  *#hasMatchBefore(seq: Seq): SearchSteps<boolean> {
    for (let low = seq; low > this.#query.low;) {
      const top = new TopMatches(1);
      low = yield* this.#ranker.rank({ ...this.#query, high: low - 1 }, top);
      if (top.seqs().length > 0) return true;
    }
    return false;
  }
}

/** The results of one section. */
class SectionResults implements Disposable {
  readonly #ranker: Ranker;
  readonly #query: MatchQuery;
  /** Matches of the first page, and those before it. */
  readonly #consumed = new Set<Seq>();
  #ranking: DiskRanking | undefined;
  #section: SeqRange | undefined;
  /** How many results have been skipped or returned. */
  #position = 0;
  /** How many more are to be skipped; those that the section does not have are left. */
  skip: number;

  /** `query`: its newest section. */
  constructor(ranker: Ranker, query: MatchQuery, skip: number) {
    this.#ranker = ranker;
    this.#query = query;
    this.skip = skip;
  }

  *nextPage(limit: number): SearchSteps<Omit<RankedPage, 'more'>> {
    const isFirst = this.#section === undefined;
    if (isFirst && this.skip + limit <= MAX_IN_MEMORY) return yield* this.#firstPage(limit);
    if (this.#ranking === undefined) {
      this.#ranking = new DiskRanking(this.#consumed);
      yield* this.#rank(this.#ranking);
    }
    const { seqs, isLast } = this.#ranking.nextPage(limit, this.skip);
    return this.#page(seqs, isLast, Math.min(this.skip, this.#ranking.count));
  }

  [Symbol.dispose](): void {
    this.#ranking?.[Symbol.dispose]();
  }

  *#firstPage(limit: number): SearchSteps<Omit<RankedPage, 'more'>> {
    const top = new TopMatches(this.skip + limit + 1);
    yield* this.#rank(top);
    const found = top.seqs();
    const consumed = found.slice(0, this.skip + limit);
    for (const seq of consumed) this.#consumed.add(seq);
    const isLast = found.length === consumed.length;
    return this.#page(consumed.slice(this.skip), isLast, Math.min(this.skip, consumed.length));
  }

  *#rank(sink: RankSink): SearchSteps<void> {
    const low = yield* this.#ranker.rank(this.#query, sink);
    this.#section = { low, high: this.#query.high };
  }

  /** `skipped`: how many results of the section were skipped just before these. */
  #page(seqs: readonly Seq[], isLast: boolean, skipped: number): Omit<RankedPage, 'more'> {
    this.skip -= skipped;
    const before = this.#position + skipped;
    this.#position = before + seqs.length;
    return { seqs, isLast, section: this.#section ?? this.#query, skipped: before };
  }
}

/** The best `limit` matches. */
class TopMatches implements RankSink {
  readonly #limit: number;
  #matches: RankedSeq[] = [];
  #last: RankedSeq | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  add(match: RankedSeq): void {
    if (this.#last !== undefined && compareRank(match, this.#last) >= 0) return;
    this.#matches.push(match);
    if (this.#matches.length >= 2 * this.#limit + 64) this.#trim();
  }

  seqs(): Seq[] {
    this.#trim();
    return this.#matches.map(({ seq }) => seq);
  }

  #trim(): void {
    this.#matches = this.#matches.toSorted(compareRank).slice(0, this.#limit);
    if (this.#matches.length === this.#limit) this.#last = this.#matches.at(-1);
  }
}

/** The best first, of equals the newest. */
function compareRank(a: RankedSeq, b: RankedSeq): number {
  return a.rank - b.rank || b.seq - a.seq;
}

/** All matches except `excluded`, in an unnamed temporary database. */
class DiskRanking implements RankSink, Disposable {
  readonly limit = -1;
  readonly #excluded: ReadonlySet<Seq>;
  readonly #db: DatabaseSync;
  readonly #add: StatementSync;
  readonly #page: StatementSync;
  #pending: RankedSeq[] = [];
  #last: RankedSeq = { rank: -Infinity, seq: 0 };
  /** Of all matches that were added. */
  count = 0;

  constructor(excluded: ReadonlySet<Seq>) {
    this.#excluded = excluded;
    this.#db = new DatabaseSync('');
    this.#db.exec(`PRAGMA cache_size = -128; PRAGMA journal_mode = OFF;
      CREATE TABLE ranked (rank REAL, older INTEGER, PRIMARY KEY (rank, older)) WITHOUT ROWID`);
    this.#add = this.#db.prepare('INSERT INTO ranked VALUES (?, ?)');
    this.#page = this.#db.prepare(
      'SELECT rank, -older AS seq FROM ranked WHERE (rank, older) > (?, ?) LIMIT ? OFFSET ?',
    );
  }

  add(match: RankedSeq): void {
    if (this.#excluded.has(match.seq)) return;
    this.count += 1;
    this.#pending.push(match);
    if (this.#pending.length >= WRITE_BATCH) this.#flush();
  }

  /** Leaves out the first `skip` of those that follow. */
  nextPage(limit: number, skip: number): Pick<RankedPage, 'seqs' | 'isLast'> {
    this.#flush();
    const { rank, seq } = this.#last;
    const found = this.#page.all(rank, -seq, limit + 1, skip) as unknown as RankedSeq[];
    const page = found.slice(0, limit);
    this.#last = page.at(-1) ?? this.#last;
    return { seqs: page.map((match) => match.seq), isLast: found.length <= limit };
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** Sorted, so that neighbours are written together. */
  #flush(): void {
    if (this.#pending.length === 0) return;
    this.#db.exec('BEGIN');
    for (const { rank, seq } of this.#pending.toSorted(compareRank)) this.#add.run(rank, -seq);
    this.#db.exec('COMMIT');
    this.#pending = [];
  }
}
