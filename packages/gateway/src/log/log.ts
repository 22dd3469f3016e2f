/**
 * The port between the app and its stores: one ordered log of entries, each with the next seq.
 *
 * A store owns order, durability and lookup. It knows no HTTP and judges no input. What holds for
 * every store is said here and held by `log.contract.ts`:
 * - `append` resolves as `appended` only once the entry is durable; a seq is never given twice and
 *   leaves no gap; `time` never goes backwards along seq.
 * - an entry whose `append` resolved is in every read that begins afterwards.
 * - reading holds no lock and no transaction while the reader pauses.
 * - memory is flat: it grows neither with the size of an entry nor with the length of a reading.
 */
import type { Filter, Kind, Stamp, State } from '@open-presence/protocol';

import type { Facet } from './facet.ts';
import type { TextQuery } from './text-query.ts';

/** Place of an entry in the log, from 1. As a cursor: the entry last seen, 0 before the first. */
export type Seq = number;

/**
 * A body too large for memory, on its way into the store. Disposing of it before it is appended
 * leaves nothing behind; afterwards it does nothing.
 */
export interface Spool extends AsyncDisposable {
  /** Takes bytes of the body's text. Resolves when more may come. The bytes may be reused then. */
  write(bytes: Uint8Array): Promise<void>;
  /** Takes facets of one filter, one after another (see `facet.ts`). Resolves as `write`. */
  mark(facets: Uint8Array, filter: Filter): Promise<void>;
  /** Takes back all that was marked for this filter: the member was spelled again. */
  unmark(filter: Filter): Promise<void>;
}

/** A judged contribution that has no place in the log yet. */
export interface Draft {
  readonly kind: Kind;
  /** Slug of a room that exists. */
  readonly room: string;
  /**
   * Facets of kind, room and the filtering members, joined (see `facet.ts`). Those of a spooled
   * body that are too many to be held are marked in its spool instead.
   */
  readonly facets: Uint8Array;
  /**
   * The visitor's members as JSON text without the outer braces, in UTF-8 without CR or LF; empty
   * for an object without members.
   */
  readonly body: Uint8Array | Spool;
  /** Digest of the idempotency key. The same key and content again is the same entry. */
  readonly key?: Uint8Array;
}

export type Appended =
  /** Durable, now (`appended`) or since an earlier append with this key and content (`repeated`). */
  | { readonly outcome: 'appended' | 'repeated'; readonly stamp: Stamp }
  /** The key belongs to an entry of another content. Nothing was stored. */
  | { readonly outcome: 'conflict'; readonly stamp: Stamp }
  /**
   * Not acknowledged: no room on the disk, or the disk failed. The outcome of a failed write is
   * unknown until the next start; a key makes trying again safe.
   */
  | { readonly outcome: 'refused'; readonly code: 'out-of-space' | 'unavailable' };

export type Order = 'newest' | 'oldest';

/** Which entries a reading takes, in which order. */
export interface Selection {
  /** An entry must have every one of these; none means all entries. */
  readonly facets: readonly Facet[];
  /** Only entries that say this, as far as they are searched. */
  readonly says?: TextQuery;
  readonly order: Order;
  /** Only seqs greater than this. */
  readonly after?: Seq;
  /** Only seqs less than this. */
  readonly before?: Seq;
  /** Only times from this (inclusive), in ms since 1970. */
  readonly since?: number;
  /** Only times before this (exclusive), in ms since 1970. */
  readonly until?: number;
  /** At most so many. */
  readonly limit?: number;
}

/** How a reading ended. */
export interface ReadEnd {
  /** The seq of the last entry given, or undefined if there was none. */
  readonly last: Seq | undefined;
  /** Whether the selection had more than `limit`. */
  readonly more: boolean;
}

/** Which of the best a search gives. */
export interface Best extends Omit<Selection, 'order'> {
  readonly says: TextQuery;
  /** So many of the best are passed over. */
  readonly skip: number;
  readonly limit: number;
}

/** One stored entry. */
export interface Entry {
  readonly stamp: Stamp;
  /** Bytes of the whole text of the entry, a JSON object in one line. */
  readonly size: number;
  /** The whole text where it is small enough to be held, else undefined. */
  readonly text: Uint8Array | undefined;
  /**
   * The text in pieces, whatever its size, from a byte of it on. A piece is the caller's until it
   * asks for the next: then its bytes may change.
   */
  pieces(from?: number): AsyncIterable<Uint8Array>;
}

/** How much one room has of one kind. */
export interface Tally {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  /** The newest of them. */
  readonly latest: { readonly seq: Seq; readonly time: number };
}

export interface Log extends AsyncDisposable {
  /** Random name, given when the log was made: tells one log's seqs from another's. */
  readonly name: string;
  /** `breathing`, or `holding` while entries cannot be stored. */
  state(): Extract<State, 'breathing' | 'holding'>;
  /** The seq of the newest durable entry, 0 in an empty log. */
  head(): Seq;
  spool(): Spool;
  /** Takes over a spooled body whatever the outcome. */
  append(draft: Draft): Promise<Appended>;
  /** Undefined where there is none of that seq. */
  entry(seq: Seq): Promise<Entry | undefined>;
  /**
   * The text of the selected entries, joined by `joiner`, in pieces that may end anywhere. What is
   * appended after the call began is not in it. A piece is the caller's until it asks for the next:
   * then its bytes may change.
   */
  read(selection: Selection, joiner: ',\n' | '\n'): AsyncGenerator<Uint8Array, ReadEnd, undefined>;
  /** The selected entries one by one. */
  entries(selection: Selection): AsyncGenerator<Entry, ReadEnd, undefined>;
  /**
   * Up to where everything said is found by its words: a little behind the head.
   * Where searching fails for now, `read`, `entries` and `best` throw `unavailable`.
   */
  searchWatermark(): Seq;
  /**
   * The entries that say it best, those first that say it more often, in fewer words, or say what is
   * rare; of equals the newest.
   */
  best(what: Best): AsyncGenerator<Entry, ReadEnd, undefined>;
  /** Counts of every room and kind that has entries. */
  tally(): readonly Tally[];
  /**
   * Calls back soon after the head has moved, perhaps once for several moves, until it is disposed
   * of. What is read then has all up to the head.
   */
  watch(moved: () => void): Disposable;
}
