/**
 * The port between the gateway and its stores: one ordered log of entries.
 *
 * A store owns order, durability and lookup. It knows nothing of HTTP and does not validate input.
 * The contract that every store must uphold is written in this file; the tests in
 * `test/log-contract/` hold stores to it:
 * - `append` resolves as `appended` only once the entry is durable. No seq is given twice, seqs have
 *   no gaps, and `time` never decreases along seq.
 * - Read your writes: an entry whose `append` has resolved is in every read that starts afterwards.
 * - The text of an entry is `entryHead(metadata)` of the protocol, a comma if the body is not empty,
 *   the body byte for byte, and `}`.
 * - A reader that pauses holds no lock and no transaction.
 * - An entry that the disk has lost costs nobody another one: it is left out.
 * - An entry that was withheld keeps its place, its gateway's members, its link and its idempotency key:
 *   it is given with the gateway's members and `"withheld":{"at":…,"reason":…}`, by `entry` and `readChain`.
 *   All other reads and all counts leave it out, unless a selection includes it: by its kind and room alone.
 *   Nothing of what the visitor said can be read or found any more. If it is only hidden, the log keeps that
 *   for its owner, and it can be shown again.
 * - Whatever reads several entries gives each in its portable form (`portability.ts`), `readChain` the exact
 *   ones.
 * - Memory is bounded: it grows neither with the size of an entry nor with the length of a read.
 */
import type { Kind, EntryMetadata } from '@open-presence/protocol';

import type { Facet, FacetCondition } from './facet.ts';
import type { Portability } from './portability.ts';
import type { TextQuery } from './text-query.ts';

/** Position of an entry in the log, from 1. As a cursor: the last entry seen, 0 before the first. */
export type Seq = number;

/**
 * Takes a body that is too large for memory. Writing rejects with a `GatewayError`
 * (`out-of-space` or `unavailable`) when the bytes cannot be stored. Disposing of a spool that was
 * not appended removes it without a trace; disposing of an appended one does nothing.
 */
export interface Spool extends AsyncDisposable {
  /** Adds bytes of the body. Resolves when more may be written; `bytes` may be reused from then. */
  write(bytes: Uint8Array): Promise<void>;
}

/** A validated contribution that is not in the log yet. */
export interface Draft {
  readonly kind: Kind;
  /** Slug of an existing room. */
  readonly room: string;
  /**
   * Facets of kind, room and the filters, in this order and that of `FILTER_MEMBERS`, concatenated (see
   * `facet.ts`).
   */
  readonly facets: Uint8Array;
  /** The visitor's members as JSON text without braces, in UTF-8 without CR or LF; empty if there are none. */
  readonly body: Uint8Array | Spool;
  /** `exact` by default. */
  readonly portability?: Portability;
  /** Digest of the idempotency key. */
  readonly key?: Uint8Array;
}

export type SmallDraft = Draft & { readonly body: Uint8Array };

export type AppendResult =
  /**
   * The entry is durable, either now (`appended`), or since an earlier append with this key and the same kind,
   * room and body (`repeated`, with the metadata of that entry).
   */
  | { readonly outcome: 'appended' | 'repeated'; readonly metadata: EntryMetadata }
  /** The key belongs to an entry with another content, whose metadata this is. Nothing was stored. */
  | { readonly outcome: 'conflict'; readonly metadata: EntryMetadata }
  | AppendRefusal;

/**
 * The disk is full or failed, or the log is closed. Whether a failed write took effect is unknown until the log
 * is opened again; retrying with the same key is safe. `reason`: the owner's reason for storing nothing.
 */
export interface AppendRefusal {
  readonly outcome: 'refused';
  readonly code: 'out-of-space' | 'unavailable';
  readonly reason?: string;
}

/** The result for a draft whose key, if it has one, no other entry has. */
export type AppendOutcome = Exclude<AppendResult, { readonly outcome: 'conflict' }>;

/** The result for a small draft: with which entry its key conflicts, only `append` tells. */
export type SmallAppendResult = AppendOutcome | { readonly outcome: 'conflict' };

export type Order = 'newest' | 'oldest';

/** Which entries a read returns, and in which order. All conditions must hold. */
export interface Selection {
  /** Each of these must hold; an empty list selects all entries. */
  readonly facets: readonly FacetCondition[];
  /** Entries that match, as far as the search watermark. */
  readonly textQuery?: TextQuery;
  readonly order: Order;
  readonly after?: Seq;
  readonly before?: Seq;
  /** Only times from this on (inclusive), in ms since 1970. */
  readonly since?: number;
  /** Only times before this (exclusive), in ms since 1970. */
  readonly until?: number;
  readonly limit?: number;
  /** `include`: what is withheld is given as well. `all`: what is hidden is selected as if it was shown, as well. */
  readonly withheld?: 'include' | 'all';
  /** Aborting ends the read and all work for it: its next step throws the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface ReadEnd {
  /** The seq of the last entry that was read, or undefined if there was none. */
  readonly last: Seq | undefined;
  /** Whether the selection has more entries than `limit`. */
  readonly more: boolean;
}

export type LogRead<T> = AsyncGenerator<T, ReadEnd, undefined>;

/** Where a read of texts can be continued by a new one. */
export interface ReadPosition {
  /** The last entry before it, undefined at the start. */
  readonly last: Seq | undefined;
  /** What is left of the limit. */
  readonly left: number;
}

export type StoredEncoding = 'zstd' | 'gzip';

/**
 * Text that is stored compressed: as zstd frames, or as part of a deflate stream that ends at a byte and refers to
 * no other part. Begins with a joiner unless it is the start.
 */
export interface StoredText {
  /** Compressed bytes. */
  readonly length: number;
  /** Of the text: its size and its CRC-32. */
  readonly compressed: { readonly size: number; readonly crc: number };
  /** Where a new read continues after it. */
  readonly end: ReadPosition;
  /** Fills the target with the bytes from `from` on. Throws where they cannot be read any more. */
  read(target: Uint8Array, from: number): Promise<void>;
  /** Throws if the bytes have changed. To be called when reading goes on after a pause. */
  verify(): Promise<void>;
}

export interface TextRead<Chunk = Uint8Array> extends LogRead<Chunk> {
  /**
   * The chunk that was returned last, and those since this changed, contain what follows this
   * position, and begin with a joiner unless it is the start. They are the same bytes in a new read
   * from there. Undefined where the chunk must be used as it is.
   */
  readonly position?: () => ReadPosition | undefined;
}

export interface NewestQuery extends Pick<Selection, 'after' | 'before' | 'since'> {
  /** Larger entries are left out, in bytes. */
  readonly maxSize: number;
}

/** Consecutive entries of the log, oldest first. */
export type ChainRange = Pick<Selection, 'after' | 'before' | 'limit' | 'signal'>;

/** A page of search results in the order of their rank. */
export interface RankedQuery extends Omit<Selection, 'order'> {
  readonly textQuery: TextQuery;
  /** How many of the best results to leave out. */
  readonly skip: number;
  readonly limit: number;
}

/** Where ranked results can be continued by a new query. */
interface RankedPosition {
  readonly before: Seq;
  readonly skip: number;
}

/** A stored entry, exact or in its portable form. */
export interface Entry {
  readonly metadata: EntryMetadata;
  /** The entry that begins its thread, perhaps itself. For a withheld entry, the thread it belonged to. */
  readonly thread: Seq;
  /** The id of the entry that it answers. Undefined for a withheld entry. */
  readonly answered: string | undefined;
  /** Set where these two differ. */
  readonly portability?: Exclude<Portability, 'exact'>;
  /** Bytes of the text: a JSON object in one line. */
  readonly size: number;
  /** The text where it is small enough for memory, else undefined. */
  readonly text: Uint8Array | undefined;
  /** Set where the visitor's members were taken away: the text then says so in their place. */
  readonly withheld?: Pick<Withholding, 'time' | 'reason' | 'state'>;
  /** The text from byte `from` on, whatever its size. A chunk is valid until the next is requested. */
  chunks(from?: number): AsyncIterable<Uint8Array>;
}

export interface RankedEntry extends Entry {
  readonly next: RankedPosition;
  /** The lowest seq of the section that it is in; undefined where no entries are before that section. */
  readonly rankedFrom: Seq | undefined;
}

/** `withheld`: the text is destroyed. `hidden`: only the log's owner keeps it. `shown`: a hidden text is back. */
export type WithholdingState = 'withheld' | 'hidden' | 'shown';

/** One removal of an entry's text, or its return. */
export interface Withholding {
  /** Position in the list of withholdings, from 1, without gaps: a cursor. */
  readonly number: number;
  readonly metadata: EntryMetadata;
  /** When it was taken away, in ms since 1970. */
  readonly time: number;
  readonly reason: string;
  readonly state: WithholdingState;
}

export interface WithholdingRange {
  readonly order: Order;
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
}

export interface RoomCount {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  readonly latest: { readonly seq: Seq; readonly time: number };
}

/**
 * Reads fix their upper bound when they are called, not at their first step: entries appended
 * afterwards are not in them. `readText` and `readEntries` with a text query, and `readRanked`,
 * throw a `GatewayError` `unavailable` while search fails.
 */
export interface Log extends AsyncDisposable {
  /** Random, assigned when the log is created: tells the seqs of one log from those of another. */
  readonly id: string;
  /** False while entries cannot be stored, for example on a full disk. Reads go on. */
  writable(): boolean;
  /** Why the owner lets nothing be stored; undefined while entries are stored. */
  readOnly(): string | undefined;
  /**
   * Takes effect now and lasts over restarts; in a cluster, for all gateways. Only for the process that owns the
   * log. Throws `unavailable` if the cluster's servers do not take it now.
   */
  setReadOnly(reason: string | undefined): Promise<void>;
  /** The time that an entry would get now, in ms since 1970: not less than that of any entry. */
  now(): number;
  /** The seq of the newest durable entry, 0 in an empty log. */
  head(): Seq;
  /**
   * Resolves after reads have every entry and withholding that anybody acknowledged before the call: at once if
   * the log has one owner. If several gateways have a copy each, rejects with a `GatewayError` `unavailable`
   * while this one cannot know what the others have acknowledged.
   */
  caughtUp(): Promise<void>;
  spool(): Spool;
  /** Takes ownership of a spooled body, whatever the outcome. Only spools of this log are accepted. */
  append(draft: Draft): Promise<AppendResult>;
  /** As `append`, for a body in memory. Does not throw. */
  appendSmall(draft: SmallDraft, onResult: (result: SmallAppendResult) => void): void;
  /**
   * Takes away what was said in these entries: all or none, also where the process is killed meanwhile.
   * Resolves with the number of those whose state has changed, once nothing of what they said is
   * in any file of the log, nor in any read that starts afterwards. A read that has begun throws where it
   * comes to such an entry in its middle. Rejects with a `GatewayError` `unavailable` or `out-of-space`
   * where nothing was taken away, or where the log closes first: then the next start goes on with it.
   * `hidden`: the log keeps what they said. `shown`: what is hidden is read as before; others stay as they are.
   */
  withhold(seqs: readonly Seq[], reason: string, state?: WithholdingState): Promise<number>;
  /** How many withholdings there are. What was read before it changed may differ from what is read now. */
  withheld(): number;
  /** Up to `withheld()` at the call. */
  withholdings(range: WithholdingRange): AsyncGenerator<Withholding, void, undefined>;
  /**
   * In its portable form unless `exact` is asked for. `hidden`: the exact entry for the owner, with its text
   * although it is hidden. Undefined if it cannot be read.
   */
  entry(seq: Seq, form?: 'exact' | 'hidden'): Promise<Entry | undefined>;
  /** The texts of the selected entries. Chunks may end anywhere; each is valid until the next is requested. */
  readText(selection: Selection, joiner: ',\n' | '\n'): TextRead;
  /** The same, where part of it may be stored text in this encoding. */
  readText(
    selection: Selection,
    joiner: ',\n' | '\n',
    stored: StoredEncoding | undefined,
  ): TextRead<Uint8Array | StoredText>;
  readEntries(selection: Selection): LogRead<Entry>;
  /** The seqs of the selected entries, some at a time, also of those that cannot be read. */
  readSeqs(selection: Selection): AsyncGenerator<readonly Seq[], void, undefined>;
  /** The hidden entries up to a seq, the newest first. */
  hidden(last: Seq): readonly Seq[];
  /** The entries up to a seq that have text which no search finds, ascending. */
  searchedInPart(last: Seq): readonly Seq[];
  /** The state of each of these entries that is not shown, or was not. */
  states(seqs: readonly Seq[]): ReadonlyMap<Seq, WithholdingState>;
  /** For the owner, the exact texts of those of these entries that are small and not erased. */
  smallTexts(seqs: readonly Seq[]): ReadonlyMap<Seq, Uint8Array>;
  /**
   * The newest entry of each identity, and perhaps others: each once, the newest first.
   */
  readNewestOfIdentities(query: NewestQuery): AsyncGenerator<Entry, void, undefined>;
  /**
   * The link of an entry, in hex; for 0, the link before the first entry (PROTOCOL.md section 20). Throws a
   * `GatewayError` `unavailable` if it cannot be read. `seq`: up to the head.
   */
  linkAt(seq: Seq): string;
  /**
   * The entries of a range with what their links are made of, as lines that each end with a newline
   * (PROTOCOL.md section 20.2). Chunks may end anywhere, and are valid until the next is requested.
   */
  readChain(range: ChainRange): TextRead;
  /** Entries up to this seq can be found by their words. It may lag a little behind the head. */
  searchWatermark(): Seq;
  /**
   * The best matches first: entries in which the terms are frequent for their length, and rare elsewhere (BM25).
   * Among equals the newest is first. If very many match, the newest are ranked as one section, and earlier ones
   * follow in further sections.
   */
  readRanked(query: RankedQuery): LogRead<RankedEntry>;
  /** One for every room and kind that has shown entries, in no particular order. */
  roomCounts(): readonly RoomCount[];
  /** The seq of the first entry stored at this time (ms since 1970) or later; head + 1 if there is none. */
  firstSince(time: number): Seq;
  /**
   * Counts the shown entries with this facet, which is a kind, a room or an answered entry, from each bound up to the
   * next. The bounds ascend, from 1 to at most head + 1. Throws the signal's reason when aborted.
   */
  countBetween(facet: Facet, bounds: readonly Seq[], signal?: AbortSignal): Promise<number[]>;
  /**
   * Calls back soon after the head or `withheld()` has changed, perhaps once for several changes, until disposed
   * of. Reads that start in the callback have every entry up to the head.
   */
  watch(onMove: () => void): Disposable;
}
