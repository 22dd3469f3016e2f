/**
 * Which entries are withheld or hidden, in the memory of whoever reads a log. Follows the table `withheld`: a
 * commit there leaves entries out of every read that begins afterwards, whatever their rows and the index have.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Order, Seq } from '../../log/log.ts';

// The last number, and that of an entry which was withheld before its case arrived (see `withheld-table.ts`).
const NUMBERS = `SELECT ifnull((SELECT max(number) FROM withheld), 0) AS last,
  ifnull((SELECT min(number) FROM withheld), 0) AS early`;
const CHANGES = `SELECT ifnull(max(number), ?1) AS last,
    json_group_array(seq) FILTER (WHERE isErased < 4) AS out,
    json_group_array(seq) FILTER (WHERE isErased > 3) AS back
  FROM withheld WHERE number > ?1`;
const EARLY = 'SELECT json_group_array(seq) AS seqs FROM withheld WHERE number < ?';

/** Since a case: the entries that are left out now, and those that were shown again, in no order. */
interface Changes {
  /** The newest case. */
  readonly last: number;
  readonly out: readonly Seq[];
  readonly back: readonly Seq[];
}

export class WithheldSeqs {
  readonly #numbers: StatementSync;
  readonly #changes: StatementSync;
  readonly #earlier: StatementSync;
  #last = 0;
  #early = 0;
  /** Ascending: seqs from the first to before the second are left out, from the third to before the fourth … */
  #edges: readonly number[] = [];

  constructor(log: DatabaseSync) {
    this.#numbers = log.prepare(NUMBERS);
    this.#changes = log.prepare(CHANGES);
    this.#earlier = log.prepare(EARLY);
  }

  /** Takes over what has changed. `has` then costs no statement. */
  follow(): this {
    const { last, early } = this.#numbers.get() as { last: number; early: number };
    if (last <= this.#last && early >= this.#early) return this;
    const { out, back } = this.changesAfter(this.#last);
    const coming = [...out, ...seqsIn(this.#earlier.get(this.#early)?.['seqs'])];
    const seqs = [
      ...coming.filter((seq) => !this.has(seq)),
      ...back.filter((seq) => this.has(seq)),
    ];
    this.#edges = changedAt(
      this.#edges,
      seqs.toSorted((a, b) => a - b),
    );
    this.#last = Math.max(0, last);
    this.#early = Math.min(0, early);
    return this;
  }

  get isEmpty(): boolean {
    return this.#edges.length === 0;
  }

  /** Without cases that have not arrived. */
  changesAfter(number: number): Changes {
    const { last, out, back } = this.#changes.get(number) ?? {};
    return { last: Number(last), out: seqsIn(out), back: seqsIn(back) };
  }

  has(seq: Seq): boolean {
    return this.#edgesUpTo(seq) % 2 === 1;
  }

  /** The first seq in this order, from this one on, that is not left out. */
  next(seq: Seq, order: Order): Seq {
    const at = this.follow().#edgesUpTo(seq);
    if (at % 2 === 0) return seq;
    return (order === 'newest' ? (this.#edges[at - 1] ?? 0) - 1 : this.#edges[at]) ?? seq;
  }

  /** Those of these seqs that are not left out. */
  shown(seqs: Seq[]): Seq[] {
    return this.hasAny(seqs) ? seqs.filter((seq) => !this.has(seq)) : seqs;
  }

  hasAny(seqs: readonly Seq[]): boolean {
    this.follow();
    return !this.isEmpty && seqs.some((seq) => this.has(seq));
  }

  #edgesUpTo(seq: Seq): number {
    let [low, high] = [0, this.#edges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#edges[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function seqsIn(json: unknown): readonly Seq[] {
  return JSON.parse(String(json)) as readonly Seq[];
}

/** The edges after each of these seqs, ascending, has come in or gone out. Two edges at one place are none. */
function changedAt(edges: readonly number[], seqs: readonly Seq[]): number[] {
  const all: number[] = [];
  const add = (edge: number): void => {
    if (all.at(-1) === edge) all.pop();
    else all.push(edge);
  };
  let at = 0;
  for (const seq of seqs)
    for (const edge of [seq, seq + 1]) {
      for (; (edges[at] ?? Infinity) <= edge; at += 1) add(edges[at] ?? 0);
      add(edge);
    }
  for (; at < edges.length; at += 1) add(edges[at] ?? 0);
  return all;
}
