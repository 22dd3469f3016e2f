/**
 * The facets of the newest entries, which the index does not have yet, so that an entry is found
 * as soon as it is acknowledged. Filled on demand, dropped as the index catches up.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet, type Facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import { atOrAbove, atOrBelow } from './postings.ts';

interface Stretch {
  readonly first: Seq;
  last: Seq;
  readonly seqs: Map<string, Seq[]>;
}

/** Long enough to be few, short enough to be dropped soon. */
const STRETCH_SEQS = 4096;

export class Tail {
  readonly #rows: StatementSync;
  #stretches: Stretch[] = [];
  #upTo: Seq = 0;

  constructor(log: DatabaseSync) {
    this.#rows = log.prepare('SELECT seq, facets FROM entries WHERE seq > ? AND seq <= ?');
  }

  /** Makes the tail span everything after `indexed` up to `head`. */
  span(indexed: Seq, head: Seq): void {
    this.#stretches = this.#stretches.filter(({ last }) => last > indexed);
    const from = Math.max(this.#upTo, indexed);
    if (head <= from) return;
    for (const row of this.#rows.iterate(from, head)) {
      this.#add(row['seq'] as Seq, Buffer.from(row['facets'] as Uint8Array));
    }
    this.#upTo = head;
  }

  /** The first seq with the facet at or beyond `from`, looking no further than `until`. */
  seek(facet: Facet, from: Seq, until: Seq, order: Order): Seq | undefined {
    const key = keyOf(Buffer.from(facet), 0);
    const stretches = order === 'newest' ? this.#stretches.toReversed() : this.#stretches;
    for (const { first, last, seqs } of stretches) {
      if (order === 'newest' ? first > from : last < from) continue;
      const known = seqs.get(key);
      if (known === undefined) continue;
      const seq = order === 'newest' ? atOrBelow(known, from) : atOrAbove(known, from);
      if (seq === undefined) continue;
      return (order === 'newest' ? seq >= until : seq <= until) ? seq : undefined;
    }
    return undefined;
  }

  #add(seq: Seq, facets: Buffer): void {
    let stretch = this.#stretches.at(-1);
    if (stretch === undefined || seq - stretch.first >= STRETCH_SEQS) {
      stretch = { first: seq, last: seq, seqs: new Map() };
      this.#stretches.push(stretch);
    }
    stretch.last = seq;
    for (let at = 0; at < facets.length; at += FACET_SIZE) {
      const key = keyOf(facets, at);
      const known = stretch.seqs.get(key);
      if (known === undefined) stretch.seqs.set(key, [seq]);
      else if (known.at(-1) !== seq) known.push(seq);
    }
  }
}

/** A facet as the key of a map. */
export function keyOf(facets: Buffer, at: number): string {
  return facets.toString('latin1', at, at + FACET_SIZE);
}

/** The kinds by the keys of their facets. */
export const KIND_OF_FACET: ReadonlyMap<string, Kind> = new Map(
  KINDS.map((kind) => [keyOf(Buffer.from(facet('kind', kind)), 0), kind]),
);
