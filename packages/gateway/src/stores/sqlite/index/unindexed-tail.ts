import { type Facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Order, Seq } from '../../../log/log.ts';
import type { BlockReader } from '../log/block-reader.ts';
import { atOrAbove, atOrBelow, facetKey, firstAbove } from './postings.ts';

interface Segment {
  readonly first: Seq;
  last: Seq;
  readonly seqs: Map<string, Seq[]>;
}

/** Long enough to be few, short enough to be discarded soon. */
const SEGMENT_SEQS = 4096;

/** Entries before these are not in the tail, even if the index does not have them. */
const MAX_TAIL = 65_536;

/**
 * Posting lists of the newest entries, which the index does not have yet, so that an entry is found
 * as soon as it is acknowledged. Filled on demand, discarded as the index catches up.
 */
export class UnindexedTail {
  readonly #log: BlockReader;
  readonly #version: () => number;
  #segments: Segment[] = [];
  #head: Seq = 0;
  /** The version as of which the segments were filled. */
  #filledVersion = 0;

  /** `version`: changes when entries were withheld. */
  constructor(log: BlockReader, version: () => number) {
    this.#log = log;
    this.#version = version;
  }

  /** The first seq that the tail has. */
  get start(): Seq {
    return this.#segments[0]?.first ?? this.#head + 1;
  }

  /** Makes the tail cover the newest seqs after `indexed` up to `head`. */
  update(indexed: Seq, head: Seq): void {
    const version = this.#version();
    if (version !== this.#filledVersion) {
      this.#segments = [];
      this.#head = 0;
      this.#filledVersion = version;
    }
    const before = Math.max(indexed, head - MAX_TAIL);
    this.#segments = this.#segments.filter(({ last }) => last > before);
    const from = Math.max(this.#head, before);
    if (head <= from) return;
    for (const { seq, facets, marked } of this.#log.rows({ from: from + 1, to: head })) {
      // Facets in files may be too many for memory: the tail begins behind such an entry.
      if (marked) this.#segments = [];
      else this.#add(seq, facets);
    }
    this.#head = head;
  }

  /** The first seq with the facet at or beyond `from`, but not beyond `until`. */
  seek(facet: Facet, from: Seq, until: Seq, order: Order): Seq | undefined {
    const key = facetKey(Buffer.from(facet), 0);
    const segments = order === 'newest' ? this.#segments.toReversed() : this.#segments;
    for (const { first, last, seqs } of segments) {
      if (order === 'newest' ? first > from : last < from) continue;
      const postings = seqs.get(key);
      if (postings === undefined) continue;
      const seq = order === 'newest' ? atOrBelow(postings, from) : atOrAbove(postings, from);
      if (seq === undefined) continue;
      return (order === 'newest' ? seq >= until : seq <= until) ? seq : undefined;
    }
    return undefined;
  }

  /** How many entries have the facet, from the one seq to the other, both inclusive. */
  count(facet: Facet, from: Seq, to: Seq): number {
    const key = facetKey(Buffer.from(facet), 0);
    return this.#segments.reduce((sum, { seqs }) => {
      const postings = seqs.get(key) ?? [];
      return sum + firstAbove(postings, to) - firstAbove(postings, from - 1);
    }, 0);
  }

  #add(seq: Seq, facets: Buffer): void {
    let segment = this.#segments.at(-1);
    if (segment === undefined || seq - segment.first >= SEGMENT_SEQS) {
      segment = { first: seq, last: seq, seqs: new Map() };
      this.#segments.push(segment);
    }
    segment.last = seq;
    for (let at = 0; at < facets.length; at += FACET_SIZE) {
      const key = facetKey(facets, at);
      const postings = segment.seqs.get(key);
      if (postings === undefined) segment.seqs.set(key, [seq]);
      else if (postings.at(-1) !== seq) postings.push(seq);
    }
  }
}
