/**
 * The port through which entries of another gateway's log are stored with their seqs, ids, times, salts
 * and links, so that this log becomes, entry by entry, the same log (PROTOCOL.md section 20).
 *
 * A store takes an entry only if its link follows from the last one that it has: what was changed on
 * the way is found before it is stored. Nothing else may be appended meanwhile.
 */
import type { EntryMetadata } from '@open-presence/protocol';

import type { Draft, Seq, Spool, Withholding } from './log.ts';

/** An entry as it was stored elsewhere, with what its link is made of. Bytes in hex. */
export interface EntryCopy extends Pick<Draft, 'facets' | 'body' | 'portability'> {
  readonly metadata: EntryMetadata;
  readonly link: string;
  /** Zeros if it is withheld. */
  readonly salt: string;
  /** Set for an entry that was withheld elsewhere; its body is empty. */
  readonly withheld?: WithheldCopy | undefined;
  /** Hash of the idempotency key's column, if the entry was sent with a key. */
  readonly key: string | undefined;
  /** It is withheld here: what it says is put back, hidden until `withhold` shows it. */
  readonly isPutBack?: boolean;
}

/** When and why an entry was withheld, and its digest in hex. */
export interface WithheldCopy extends Pick<Withholding, 'time' | 'reason'> {
  readonly digest: string;
}

/** An entry that is to be withheld, or shown again, as it was elsewhere. */
export interface WithholdingCopy extends Pick<Withholding, 'time' | 'reason' | 'state'> {
  readonly seq: Seq;
}

export type SmallCopy = EntryCopy & { readonly body: Uint8Array };

/** Why an entry is not taken. */
export type CopyFault =
  /** The log has another entry with this seq. */
  | 'differs'
  /** The log does not have the entry before. */
  | 'gap'
  /** Its link is not made of it and the link before, or it is of an earlier time. */
  | 'changed';

export type CopyResult =
  /** All are durable, or were. */
  | { readonly outcome: 'stored' }
  /** The entries before this one are durable. */
  | { readonly outcome: 'refused'; readonly seq: Seq; readonly fault: CopyFault }
  /** The disk is full or failed. Trying again is safe. */
  | { readonly outcome: 'failed'; readonly code: 'out-of-space' | 'unavailable' };

export interface LogCopier {
  /** The seq of the newest durable entry, 0 in an empty log. */
  head(): Seq;
  /** The link of an entry, in hex; undefined if it cannot be read. `seq`: up to the head. */
  linkAt(seq: Seq): string | undefined;
  isWithheld(seq: Seq): boolean;
  spool(): Spool;
  /** Bytes of the entries that were added and not sent yet. */
  readonly pending: number;
  /** A spooled body is taken over: then it is to be awaited, and throws a `GatewayError` if the disk fails. */
  add(copy: EntryCopy): void | Promise<void>;
  /** Stores what was added, in one commit; skips what the log has. More may be added meanwhile. */
  commit(): Promise<CopyResult>;
  /** Withholds entries as they were elsewhere. Resolves and rejects as `Log.withhold`. */
  withhold(withholdings: readonly WithholdingCopy[]): Promise<void>;
}
