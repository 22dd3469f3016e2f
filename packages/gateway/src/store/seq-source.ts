import type { Order, Seq } from '../log/log.ts';

/** Both inclusive; empty if `low` is greater than `high`. */
export interface SeqRange {
  readonly low: Seq;
  readonly high: Seq;
}

/** Some seqs, and how many of them are wanted. */
export interface PageOf extends SeqRange {
  readonly order: Order;
  readonly limit: number;
}

/** A page of seqs in order. It may be short, even empty, although more follow. */
export interface SeqPage {
  readonly seqs: Seq[];
  /** Where the next page starts, or undefined after the last. */
  readonly next: Seq | undefined;
}

export interface SeqSource {
  /** Up to `limit` seqs at or beyond `from`, in the direction of the selection's order. */
  page(from: Seq, limit: number): SeqPage | Promise<SeqPage>;
}
