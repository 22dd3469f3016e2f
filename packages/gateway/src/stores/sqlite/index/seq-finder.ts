/** Finds the seqs that have all of some facets, a page at a time, in index and tail together. */
import type { DatabaseSync } from 'node:sqlite';

import type { Facet } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import { type PostingsCursor, postingsIn, type Sought } from './postings.ts';
import type { Shared } from '../shared.ts';
import type { Tail } from './tail.ts';

/** A page of seqs in order. */
export interface Page {
  readonly seqs: Seq[];
  /** Where to look on, or undefined when all has been looked at. */
  readonly from: Seq | undefined;
}

/** Finds seqs, here or by asking another thread. */
export interface Finding {
  page(from: Seq, most: number): Page | Promise<Page>;
}

interface Cursor {
  readonly facet: Facet;
  readonly postings: PostingsCursor;
}

/** How often one page looks into the index in vain at most: a few milliseconds of work. */
const WORK_A_PAGE = 512;
const PARTS_A_SEEK = 64;

export class Search {
  readonly #cursors: readonly Cursor[];
  readonly #order: Order;
  readonly #step: 1 | -1;
  readonly #until: Seq;
  readonly #tail: Tail;
  readonly #shared: Shared;

  /** Looks no further than `until`, inclusive. */
  constructor(
    index: DatabaseSync,
    tail: Tail,
    shared: Shared,
    what: { readonly facets: readonly Facet[]; readonly order: Order; readonly until: Seq },
  ) {
    this.#order = what.order;
    this.#step = what.order === 'newest' ? -1 : 1;
    this.#until = what.until;
    this.#tail = tail;
    this.#shared = shared;
    const cursorOf = postingsIn(index, what.order);
    this.#cursors = what.facets.map((facet) => ({ facet, postings: cursorOf(facet) }));
  }

  /** Up to `most` seqs at or beyond `from`; fewer, even none, where much had to be looked through. */
  page(from: Seq, most: number): Page {
    const indexed = this.#shared.indexed;
    this.#tail.span(indexed, this.#shared.head);
    const seqs: Seq[] = [];
    let at = from;
    for (let work = 0; seqs.length < most; work += 1) {
      if (work >= most + WORK_A_PAGE) return { seqs, from: at };
      const sought = this.#agree(at, indexed);
      if (sought === 'none') return { seqs, from: undefined };
      if ('seq' in sought) {
        seqs.push(sought.seq);
        at = sought.seq + this.#step;
      } else {
        at = sought.nothingUntil;
        work += sought.looked;
      }
    }
    return { seqs, from: at };
  }

  /** One round over all facets: the seq they share, or from where on they may share one. */
  #agree(from: Seq, indexed: Seq): Sought {
    let agreed: Seq | undefined;
    for (const cursor of this.#cursors) {
      const sought = this.#seek(cursor, agreed ?? from, indexed);
      if (sought === 'none' || 'nothingUntil' in sought) return sought;
      if (agreed !== undefined && sought.seq !== agreed)
        return { nothingUntil: sought.seq, looked: 0 };
      agreed = sought.seq;
    }
    return agreed === undefined ? 'none' : { seq: agreed };
  }

  #seek(cursor: Cursor, from: Seq, indexed: Seq): Sought {
    const { facet, postings } = cursor;
    if (this.#step < 0) {
      if (from > indexed) {
        const seq = this.#tail.seek(facet, from, Math.max(this.#until, indexed + 1), this.#order);
        if (seq !== undefined) return { seq };
      }
      return postings.seek(Math.min(from, indexed), this.#until, PARTS_A_SEEK);
    }
    if (from <= indexed) {
      const sought = postings.seek(from, Math.min(this.#until, indexed), PARTS_A_SEEK);
      if (sought !== 'none') return sought;
    }
    const seq = this.#tail.seek(facet, Math.max(from, indexed + 1), this.#until, this.#order);
    return seq === undefined ? 'none' : { seq };
  }
}
