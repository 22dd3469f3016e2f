/**
 * Finds entries by their words, a page at a time, and ranks them. Runs in the thread of the words,
 * where nobody who wants something else waits for it.
 *
 * What lies in one row of the index, SQLite judges. A large entry lies in many, and each of its terms
 * is looked for by itself.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { GatewayError } from '@open-presence/protocol';

import type { Facet } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import { yieldPeriodically } from '../../../fair-turns.ts';
import type { TextQuery, Term } from '../../../log/text-query.ts';
import { openForReading, type DataPaths } from '../schema.ts';
import { type Page, Search } from '../index/seq-finder.ts';
import type { Shared } from '../shared.ts';
import { Tail } from '../index/tail.ts';
import { lastPieceOf, pieceOf, seqOfPiece } from './word-index.ts';

export interface Asked {
  readonly textQuery: TextQuery;
  readonly facets: readonly Facet[];
  /** Both inclusive. */
  readonly low: Seq;
  readonly high: Seq;
}

export interface PageAsked extends Asked {
  readonly order: Order;
  readonly most: number;
}

/** The less, the better. */
export interface Ranked {
  readonly rank: number;
  readonly seq: Seq;
}

/** Takes what was found with its rank, in any order. */
export interface Ranks {
  /** Ranks from here on need not be told; it may become less as others come. */
  readonly worst: number;
  add(ranked: Ranked): void;
}

/** How many rank at once: each has files open, and a cache. */
const RANKINGS = 8;
/** Large entries that are looked into for one page. */
const LARGE_A_PAGE = 256;
/** How long one question is worked at before others have their turn. */
const TURN_MS = 10;
/** Seqs asked for at once where facets must be had too: a question costs as much as many of them. */
const MANY = 512;

/** After so many that may have been told in vain, the others are judged anew. */
const IN_VAIN = 4096;

/** Where no more than these have the facets, no others are judged. */
const FEW = 16 * 1024;

// Telling one costs more than judging two. Some are told only so that others have their turn.
const ranked = (condition: string): string => `SELECT rowid AS place, bm25(texts) AS rank FROM texts
  WHERE texts MATCH ? AND rowid BETWEEN ? AND ? AND (rowid & 1023 = 0 OR ${condition})
  ORDER BY rowid DESC`;
const RANKED = ranked('bm25(texts) < ?');
const RANKED_FEW = ranked(
  'CASE WHEN rowid IN (SELECT value FROM json_each(?)) THEN bm25(texts) < ? END',
);
const RANKED_PIECES = `SELECT rowid AS place, bm25(texts) AS rank FROM texts
  WHERE texts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid`;

export class Finder {
  readonly #places: DataPaths;
  readonly #words: DatabaseSync;
  readonly #log: DatabaseSync;
  readonly #index: DatabaseSync;
  readonly #shared: Shared;
  readonly #tail: Tail;
  readonly #ascending: StatementSync;
  readonly #descending: StatementSync;
  readonly #firstPiece: StatementSync;
  readonly #lastPiece: StatementSync;
  #rankings = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(places: DataPaths, shared: Shared) {
    this.#places = places;
    this.#shared = shared;
    this.#words = openForReading(places.search);
    this.#log = openForReading(places.log);
    this.#index = openForReading(places.index);
    for (const db of [this.#words, this.#log, this.#index]) db.exec('PRAGMA cache_size = -2048');
    this.#tail = new Tail(this.#log);
    const matching = (order: string): StatementSync =>
      this.#words.prepare(
        `SELECT rowid AS place FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid ${order} LIMIT ?`,
      );
    this.#ascending = matching('ASC');
    this.#descending = matching('DESC');
    this.#firstPiece = matching('ASC');
    this.#lastPiece = matching('DESC');
    this.#firstPiece.setReadBigInts(true);
    this.#lastPiece.setReadBigInts(true);
  }

  close(): void {
    this.#words.close();
    this.#log.close();
    this.#index.close();
  }

  /** Up to `most` seqs in their order; fewer, even none, where much had to be looked through. */
  page(asked: PageAsked): Page {
    this.#mustKnow(asked);
    if (asked.facets.length === 0) return this.#saying(asked);
    const { order, low, high, facets } = asked;
    const newest = order === 'newest';
    const having = this.#having(facets, order, newest ? low : high);
    const seqs: Seq[] = [];
    const started = performance.now();
    for (let at: Seq | undefined = newest ? high : low; at !== undefined;) {
      const bounds = newest ? { low, high: at } : { low: at, high };
      if (seqs.length >= asked.most || performance.now() - started > TURN_MS)
        return { seqs, from: at };
      const page = this.#saying({ ...asked, ...bounds, most: Math.max(MANY, asked.most) });
      at = page.from;
      for (const seq of page.seqs) {
        const next = having.next(seq);
        if (next === undefined) return { seqs, from: undefined };
        if (next === seq) seqs.push(seq);
        // Far ahead: no need to look at what lies between.
        else if (at !== undefined) at = newest ? Math.min(at, next) : Math.max(at, next);
        if (seqs.length === asked.most) return { seqs, from: seq + (newest ? -1 : 1) };
      }
    }
    return { seqs, from: undefined };
  }

  /** Tells all that fits, save what `ranks` need not be told. */
  async rank(asked: Asked, ranks: Ranks): Promise<void> {
    if (this.#rankings < RANKINGS) this.#rankings += 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      this.#mustKnow(asked);
      const rest = yieldPeriodically();
      // While a statement is open, all of its connection see what it saw first: pages need what is new.
      using words = openForReading(this.#places.search);
      words.exec('PRAGMA cache_size = -1024');
      await this.#rankSmall(words, asked, ranks, rest);
      await this.#rankLarge(words, asked, ranks, rest);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#rankings -= 1;
      else next();
    }
  }

  /** Who began to read before all words were lost would take what is missing for all there is. */
  #mustKnow({ high }: Asked): void {
    if (high <= this.#shared.searched) return;
    throw new GatewayError('unavailable', `The words of ${high} are not read again yet.`);
  }

  /** What lies in one row each: the newest first, so that of equals the later can be left out. */
  async #rankSmall(words: DatabaseSync, asked: Asked, ranks: Ranks, rest: Rest): Promise<void> {
    const { textQuery, facets, low, high } = asked;
    const few = await this.#few(asked, rest);
    const having = this.#having(facets, 'newest', low);
    for (let at: Seq | undefined = high; at !== undefined;) {
      const { worst } = ranks;
      const statement = words.prepare(few === undefined ? RANKED : RANKED_FEW);
      const among = few === undefined ? [] : [few];
      const rows = statement.iterate(matchOf(textQuery), low, at, ...among, worst);
      at = undefined;
      let told = 0;
      for (const row of rows) {
        const { place: seq, rank } = row as { place: Seq; rank: number };
        if (rank < ranks.worst && having.next(seq) === seq) ranks.add({ seq, rank });
        await rest();
        told += 1;
        if (told < IN_VAIN || ranks.worst === worst) continue;
        at = seq - 1;
        break;
      }
    }
  }

  /** Large ones, each by the best of its rows. */
  async #rankLarge(words: DatabaseSync, asked: Asked, ranks: Ranks, rest: Rest): Promise<void> {
    const { textQuery, facets, low, high } = asked;
    const having = this.#having(facets, 'oldest', high);
    const statement = words.prepare(RANKED_PIECES);
    statement.setReadBigInts(true);
    const fits = ({ seq }: Ranked): boolean =>
      having.next(seq) === seq && (isOneTerm(textQuery) || this.#isSaidIn(seq, textQuery));
    const any = joined(textQuery.all, 'OR');
    let best: Ranked | undefined;
    for (const row of statement.iterate(any, pieceOf(low, 0), lastPieceOf(high))) {
      const { place, rank } = row as { place: bigint; rank: number };
      const seq = seqOfPiece(place);
      if (best !== undefined && best.seq !== seq && fits(best)) ranks.add(best);
      best = best?.seq === seq ? { seq, rank: Math.min(rank, best.rank) } : { seq, rank };
      await rest();
    }
    if (best !== undefined && fits(best)) ranks.add(best);
  }

  /** Without regard to facets. */
  #saying(asked: PageAsked): Page {
    const { textQuery, order, low, high, most } = asked;
    if (low > high) return { seqs: [], from: undefined };
    const newest = order === 'newest';
    const statement = newest ? this.#descending : this.#ascending;
    const found = statement
      .all(matchOf(textQuery), low, high, most)
      .map((row) => row['place'] as Seq);
    const whole = found.length < most;
    // Beyond the last of a full page, large ones are for the next.
    const last = whole ? undefined : found.at(-1);
    const bounds = newest ? { low: last ?? low, high } : { low, high: last ?? high };
    const large = this.#larges({ ...asked, ...bounds });
    const within = large.from;
    const seqs = [...found, ...large.seqs].toSorted((a, b) => (newest ? b - a : a - b));
    if (within !== undefined) {
      // Not all large ones were looked at: what lies behind them waits.
      const told = seqs.filter((seq) => (newest ? seq > within : seq < within));
      return cut(told, most, { newest, from: within });
    }
    const step = newest ? -1 : 1;
    return cut(seqs, most, { newest, from: last === undefined ? undefined : last + step });
  }

  /** The large ones; `from` is where to look on when there were too many to look at. */
  #larges({ textQuery, order, low, high, most }: PageAsked): Page {
    const newest = order === 'newest';
    const statement = newest ? this.#lastPiece : this.#firstPiece;
    const [first] = textQuery.all;
    if (first === undefined) return { seqs: [], from: undefined };
    const phrase = phraseOf(first);
    const seqs: Seq[] = [];
    let from = pieceOf(low, 0);
    let to = lastPieceOf(high);
    for (let looked = 0; ; looked += 1) {
      const place = statement.get(phrase, from, to, 1)?.['place'];
      if (typeof place !== 'bigint') return { seqs, from: undefined };
      const seq = seqOfPiece(place);
      if (looked >= LARGE_A_PAGE || seqs.length >= most) return { seqs, from: seq };
      if (isOneTerm(textQuery) || this.#isSaidIn(seq, textQuery)) seqs.push(seq);
      if (newest) to = pieceOf(seq, 0) - 1n;
      else from = lastPieceOf(seq) + 1n;
    }
  }

  /** Whether a large entry textQuery all that it shall, and nothing that it shall not. */
  #isSaidIn(seq: Seq, { all, none }: TextQuery): boolean {
    const found = (term: Term): boolean =>
      this.#firstPiece.get(phraseOf(term), pieceOf(seq, 0), lastPieceOf(seq), 1) !== undefined;
    return all.every(found) && !none.some(found);
  }

  /** All that have the facets, as JSON; undefined where they are many. */
  async #few({ facets, low, high }: Asked, rest: Rest): Promise<string | undefined> {
    if (facets.length === 0) return undefined;
    const search = new Search(this.#index, this.#tail, this.#shared, {
      facets,
      order: 'oldest',
      until: high,
    });
    const few: Seq[] = [];
    for (let from: Seq | undefined = low; from !== undefined;) {
      const page = search.page(from, MANY);
      few.push(...page.seqs);
      if (few.length > FEW) return undefined;
      from = page.from;
      await rest();
    }
    return JSON.stringify(few);
  }

  #having(facets: readonly Facet[], order: Order, until: Seq): Having {
    if (facets.length === 0) return { next: (seq) => seq };
    const search = new Search(this.#index, this.#tail, this.#shared, { facets, order, until });
    let known: Seq | undefined;
    let ended = false;
    return {
      next(seq) {
        const isBefore = known === undefined || (order === 'newest' ? known > seq : known < seq);
        if (!isBefore || ended) return ended ? undefined : known;
        for (let from: Seq | undefined = seq; from !== undefined;) {
          const page = search.page(from, 1);
          if (page.seqs.length > 0) return (known = page.seqs[0]);
          from = page.from;
        }
        ended = true;
        return undefined;
      },
    };
  }
}

type Rest = ReturnType<typeof yieldPeriodically>;

/** Tells, of seqs that are asked for in order, the first one at or beyond it that has the facets. */
interface Having {
  next(seq: Seq): Seq | undefined;
}

function cut(
  seqs: Seq[],
  most: number,
  { newest, from }: { readonly newest: boolean; readonly from: Seq | undefined },
): Page {
  if (seqs.length <= most) return { seqs, from };
  const few = seqs.slice(0, most);
  return { seqs: few, from: (few.at(-1) ?? 0) + (newest ? -1 : 1) };
}

function isOneTerm({ all, none }: TextQuery): boolean {
  return all.length === 1 && none.length === 0;
}

/** In the words of FTS5. Words of ours have nothing that means something there. */
function phraseOf({ words, isPrefix }: Term): string {
  return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`;
}

function matchOf({ all, none }: TextQuery): string {
  const wanted = joined(all, 'AND');
  return none.length === 0 ? wanted : `(${wanted}) NOT (${joined(none, 'OR')})`;
}

/** In halves: FTS5 copies all that stands to the left of each operator. */
function joined(terms: readonly Term[], operator: 'AND' | 'OR'): string {
  if (terms.length <= 64) return terms.map(phraseOf).join(` ${operator} `);
  const middle = terms.length >>> 1;
  const left = joined(terms.slice(0, middle), operator);
  return `(${left}) ${operator} (${joined(terms.slice(middle), operator)})`;
}
