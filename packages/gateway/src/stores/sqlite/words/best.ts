/**
 * The best first. One page at the beginning is chosen in memory; whoever reads beyond has all that
 * is left ranked once, in a file of its own that is gone with the reading: so each comes once,
 * whatever is said meanwhile, and memory is flat however many there are.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { Asked, Finder, Ranked, Ranks } from './finder.ts';

export interface BestAsked extends Asked {
  /** So many of the best are passed over. */
  readonly skip: number;
  readonly limit: number;
}

export interface BestFound {
  readonly seqs: readonly Seq[];
  readonly more: boolean;
}

/** How many are given at once. */
const PAGE = 1024;
/** How many are held to choose from at most. */
const HELD = 16 * 1024;

/** One caller's reading of the best. */
export class BestReading implements Disposable {
  readonly #finder: Finder;
  readonly #asked: BestAsked;
  /** Given or passed over while all was still chosen in memory. */
  readonly #passed = new Set<Seq>();
  #ranking: Ranking | undefined;
  #left: number;

  constructor(finder: Finder, asked: BestAsked) {
    this.#finder = finder;
    this.#asked = asked;
    this.#left = asked.limit;
  }

  /** The next ones. Not before those before have come. */
  async next(): Promise<BestFound> {
    const { skip } = this.#asked;
    const most = Math.min(this.#left, PAGE);
    const isFirst = this.#passed.size === 0 && this.#ranking === undefined;
    const found = isFirst && skip + most <= HELD ? await this.#top(most) : await this.#rest(most);
    this.#left -= found.seqs.length;
    return found;
  }

  [Symbol.dispose](): void {
    this.#ranking?.[Symbol.dispose]();
  }

  async #top(most: number): Promise<BestFound> {
    const { skip } = this.#asked;
    const top = new Top(skip + most + 1);
    await this.#finder.rank(this.#asked, top);
    const found = top.best();
    const given = found.slice(0, skip + most);
    for (const seq of given) this.#passed.add(seq);
    return { seqs: given.slice(skip), more: found.length > given.length };
  }

  async #rest(most: number): Promise<BestFound> {
    if (this.#ranking === undefined) {
      const skip = this.#passed.size === 0 ? this.#asked.skip : 0;
      this.#ranking = new Ranking(this.#passed, skip);
      await this.#finder.rank(this.#asked, this.#ranking);
    }
    return this.#ranking.page(most);
  }
}

/** The best of many. */
class Top implements Ranks {
  readonly #most: number;
  #held: Ranked[] = [];
  #last: Ranked | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get worst(): number {
    return this.#last?.rank ?? Infinity;
  }

  add(ranked: Ranked): void {
    if (this.#last !== undefined && inRank(ranked, this.#last) >= 0) return;
    this.#held.push(ranked);
    if (this.#held.length >= 2 * this.#most + 64) this.#choose();
  }

  best(): Seq[] {
    this.#choose();
    return this.#held.map(({ seq }) => seq);
  }

  #choose(): void {
    this.#held = this.#held.toSorted(inRank).slice(0, this.#most);
    if (this.#held.length === this.#most) this.#last = this.#held.at(-1);
  }
}

/** Better ones first, of equals the newer. */
function inRank(one: Ranked, other: Ranked): number {
  return one.rank - other.rank || other.seq - one.seq;
}

/** All of them in their order, save some, in a nameless file. */
class Ranking implements Ranks, Disposable {
  readonly worst = Infinity;
  readonly #without: ReadonlySet<Seq>;
  readonly #db: DatabaseSync;
  readonly #add: StatementSync;
  readonly #page: StatementSync;
  #gathered: Ranked[] = [];
  #skip: number;
  #behind: Ranked = { rank: -Infinity, seq: 0 };

  constructor(without: ReadonlySet<Seq>, skip: number) {
    this.#without = without;
    this.#skip = skip;
    this.#db = new DatabaseSync('');
    this.#db.exec(`PRAGMA cache_size = -128; PRAGMA journal_mode = OFF;
      CREATE TABLE ranked (rank REAL, older INTEGER, PRIMARY KEY (rank, older)) WITHOUT ROWID`);
    this.#add = this.#db.prepare('INSERT INTO ranked VALUES (?, ?)');
    this.#page = this.#db.prepare(
      'SELECT rank, -older AS seq FROM ranked WHERE (rank, older) > (?, ?) LIMIT ? OFFSET ?',
    );
  }

  add(ranked: Ranked): void {
    if (this.#without.has(ranked.seq)) return;
    this.#gathered.push(ranked);
    if (this.#gathered.length >= 8192) this.#keep();
  }

  page(most: number): BestFound {
    this.#keep();
    const { rank, seq } = this.#behind;
    const found = this.#page.all(rank, -seq, most + 1, this.#skip) as unknown as Ranked[];
    const given = found.slice(0, most);
    this.#skip = 0;
    this.#behind = given.at(-1) ?? this.#behind;
    return { seqs: given.map((one) => one.seq), more: found.length > most };
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** In their order, so that neighbours are written together. */
  #keep(): void {
    if (this.#gathered.length === 0) return;
    this.#db.exec('BEGIN');
    for (const { rank, seq } of this.#gathered.toSorted(inRank)) this.#add.run(rank, -seq);
    this.#db.exec('COMMIT');
    this.#gathered = [];
  }
}
