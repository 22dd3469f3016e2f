/**
 * Ranked results, a page at a time. The first page is selected in memory. A reader who goes on gets
 * all further matches ranked once, in a temporary database: so each match comes once, whatever is
 * appended meanwhile, and memory is bounded whatever their number.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { RankedMatchQuery, RankedPage } from './messages.ts';
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
  /** Matches of the first page, and those before it. */
  readonly #consumed = new Set<Seq>();
  #ranking: DiskRanking | undefined;
  #left: number;

  constructor(ranker: Ranker, query: RankedMatchQuery) {
    this.#ranker = ranker;
    this.#query = query;
    this.#left = query.limit;
  }

  /** Must not be called before the page before has been returned. */
  *nextPage(): SearchSteps<RankedPage> {
    const limit = Math.min(this.#left, MAX_PAGE);
    const isFirst = this.#consumed.size === 0 && this.#ranking === undefined;
    const page =
      isFirst && this.#query.skip + limit <= MAX_IN_MEMORY
        ? yield* this.#firstPage(limit)
        : yield* this.#furtherPage(limit);
    this.#left -= page.seqs.length;
    return page;
  }

  [Symbol.dispose](): void {
    this.#ranking?.[Symbol.dispose]();
  }

  *#firstPage(limit: number): SearchSteps<RankedPage> {
    const { skip } = this.#query;
    const top = new TopMatches(skip + limit + 1);
    yield* this.#ranker.rank(this.#query, top);
    const found = top.seqs();
    const consumed = found.slice(0, skip + limit);
    for (const seq of consumed) this.#consumed.add(seq);
    return { seqs: consumed.slice(skip), more: found.length > consumed.length };
  }

  *#furtherPage(limit: number): SearchSteps<RankedPage> {
    if (this.#ranking === undefined) {
      const skip = this.#consumed.size === 0 ? this.#query.skip : 0;
      this.#ranking = new DiskRanking(this.#consumed, skip);
      yield* this.#ranker.rank(this.#query, this.#ranking);
    }
    return this.#ranking.nextPage(limit);
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

  get maxRank(): number {
    return this.#last?.rank ?? Infinity;
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
  readonly maxRank = Infinity;
  readonly #excluded: ReadonlySet<Seq>;
  readonly #db: DatabaseSync;
  readonly #add: StatementSync;
  readonly #page: StatementSync;
  #pending: RankedSeq[] = [];
  #skip: number;
  #last: RankedSeq = { rank: -Infinity, seq: 0 };

  constructor(excluded: ReadonlySet<Seq>, skip: number) {
    this.#excluded = excluded;
    this.#skip = skip;
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
    this.#pending.push(match);
    if (this.#pending.length >= WRITE_BATCH) this.#flush();
  }

  nextPage(limit: number): RankedPage {
    this.#flush();
    const { rank, seq } = this.#last;
    const found = this.#page.all(rank, -seq, limit + 1, this.#skip) as unknown as RankedSeq[];
    const page = found.slice(0, limit);
    this.#skip = 0;
    this.#last = page.at(-1) ?? this.#last;
    return { seqs: page.map((match) => match.seq), more: found.length > limit };
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
