/**
 * Ranked results, a page at a time, from one section after another (see `ranker.ts`). The first page of a
 * section is selected in memory. A reader who goes on gets all further matches of the section ranked
 * once, in a temporary database: so each match comes once, whatever is appended meanwhile, and memory is
 * bounded whatever their number.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Seq } from '../../../../log/log.ts';
import { type RankedSeq, rankSection, type RankSink } from './ranker.ts';
import type { RankedPage, RankedRequest } from './search-calls.ts';
import type { SearchSteps } from './search-steps.ts';
import { pageOfMatches, type SearchContext } from './word-search.ts';

const MAX_PAGE = 1024;
/** Maximum number of matches to select from in memory. */
const MAX_IN_MEMORY = 16 * 1024;
/** Matches written to the temporary database at once. */
const WRITE_BATCH = 8192;

/** Yields pages beside its steps. No results follow the last one. */
export type RankedPages = Generator<Promise<void> | void | RankedPage, void, void>;

export function* rankedPages(context: SearchContext, query: RankedRequest): RankedPages {
  let { skip, limit: left, high } = query;
  for (;;) {
    using section = new Section(context, { ...query, high });
    let given = 0;
    for (let isLast = false; !isLast;) {
      const found = yield* section.page(skip, Math.min(left, MAX_PAGE));
      const { seqs, low } = found;
      ({ isLast } = found);
      const skipped = given + found.skipped;
      const hasOlder = low > query.low;
      given = skipped + seqs.length;
      skip -= found.skipped;
      left -= seqs.length;
      const isFull = left === 0 && seqs.length > 0;
      const isEnd =
        isLast && (!hasOlder || (isFull && !(yield* hasMatch(context, query, low - 1))));
      if (seqs.length > 0 || isEnd || !isLast)
        yield { seqs, more: !isEnd, section: { low, high }, skipped, isLast };
      if (isEnd) return;
      if (isLast) high = low - 1;
    }
  }
}

/** The steps up to the next page. There must be one. */
export function* nextPage(pages: RankedPages): SearchSteps<RankedPage> {
  for (;;) {
    const { value, done } = pages.next();
    if (done === true) throw new Error('There are no more results.');
    if (value !== undefined && 'seqs' in value) return value;
    yield value;
  }
}

function* hasMatch(context: SearchContext, query: RankedRequest, high: Seq): SearchSteps<boolean> {
  const wanted = { ...query, high, order: 'newest', limit: 1 } as const;
  return (yield* pageOfMatches(context, wanted)).seqs.length > 0;
}

interface SectionPage {
  readonly skipped: number;
  readonly seqs: readonly Seq[];
  /** Whether the section has no others. */
  readonly isLast: boolean;
}

class Section implements Disposable {
  readonly #context: SearchContext;
  readonly #query: RankedRequest;
  /** What the first page has, and what was skipped before it. */
  readonly #consumed = new Set<Seq>();
  #ranking: DiskRanking | undefined;
  #low: Seq | undefined;

  constructor(context: SearchContext, query: RankedRequest) {
    this.#context = context;
    this.#query = query;
  }

  /** The next page and the first seq of the section. Skips the first `skip` of the remaining matches. */
  *page(skip: number, limit: number): SearchSteps<SectionPage & { readonly low: Seq }> {
    if (this.#low === undefined && skip + limit <= MAX_IN_MEMORY) {
      const top = new TopMatches(skip + limit + 1);
      const low = yield* this.#rank(top);
      const found = top.seqs();
      const consumed = found.slice(0, skip + limit);
      for (const seq of consumed) this.#consumed.add(seq);
      const seqs = consumed.slice(skip);
      const skipped = consumed.length - seqs.length;
      return { low, skipped, seqs, isLast: found.length === consumed.length };
    }
    if (this.#ranking === undefined) {
      this.#ranking = new DiskRanking(this.#consumed);
      yield* this.#rank(this.#ranking);
    }
    return { low: this.#low ?? this.#query.low, ...this.#ranking.page(skip, limit) };
  }

  [Symbol.dispose](): void {
    this.#ranking?.[Symbol.dispose]();
  }

  *#rank(sink: RankSink): SearchSteps<Seq> {
    this.#low = yield* rankSection(this.#context, this.#query, sink);
    return this.#low;
  }
}

/** The best `limit` matches. */
class TopMatches implements RankSink {
  readonly limit: number;
  #matches: RankedSeq[] = [];
  #last: RankedSeq | undefined;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(match: RankedSeq): void {
    if (this.#last !== undefined && compareRank(match, this.#last) >= 0) return;
    this.#matches.push(match);
    if (this.#matches.length >= 2 * this.limit + 64) this.#trim();
  }

  seqs(): Seq[] {
    this.#trim();
    return this.#matches.map(({ seq }) => seq);
  }

  #trim(): void {
    this.#matches = this.#matches.toSorted(compareRank).slice(0, this.limit);
    if (this.#matches.length === this.limit) this.#last = this.#matches.at(-1);
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
  #count = 0;

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
    this.#count += 1;
    this.#pending.push(match);
    if (this.#pending.length >= WRITE_BATCH) this.#flush();
  }

  /** Leaves out the first `skip` of those that follow. */
  page(skip: number, limit: number): SectionPage {
    this.#flush();
    const { rank, seq } = this.#last;
    const found = this.#page.all(rank, -seq, limit + 1, skip) as unknown as RankedSeq[];
    const page = found.slice(0, limit);
    this.#last = page.at(-1) ?? this.#last;
    const seqs = page.map((match) => match.seq);
    return { skipped: Math.min(skip, this.#count), seqs, isLast: found.length <= limit };
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
