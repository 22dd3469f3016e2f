/** What a replica of the log gets from the messages of a stream. Every replica makes the same entries of it. */
import type { Seq, Withholding } from './log.ts';
import type { PackedDraft } from './packed-drafts.ts';

/** Who published a message, and which of its messages it is. */
export interface MessageOrigin {
  /** In hex: another one for each start of a gateway, which begins in the same way. */
  readonly publisher: string;
  /** Counts the publisher's messages from 1. */
  readonly number: number;
  /** Its messages up to this number are not published again. */
  readonly settled: number;
  /** When it was first published, by the publisher's clock, in ms since 1970. */
  readonly sent: number;
}

/** What one message of the stream has for the writer. */
export interface OrderedBatch extends MessageOrigin {
  /** Sequence of the message in the stream. */
  readonly position: number;
  /** When the stream took the message, in ms since 1970. */
  readonly time: number;
  /** 32 random bytes, from which the salts of its entries come. */
  readonly nonce: Uint8Array;
  /** Packed by `packDrafts`; empty for a message that has none. */
  readonly drafts: ArrayBuffer;
  /** One for each draft; undefined where the draft says all. */
  readonly forms?: readonly (DraftForm | RefusedForm | undefined)[] | undefined;
  /** Uploads that were abandoned since the last message: their chunks are to be erased in the stream. */
  readonly unusedUploads?: readonly string[];
}

export interface UnpackedBatch extends Omit<OrderedBatch, 'drafts'> {
  readonly drafts: readonly PackedDraft[];
}

export interface StreamPosition {
  readonly stream: string;
  /** The last message that was applied, by its sequence in the stream. */
  readonly position: number;
  /** The message to read on from: before the position where an upload was unfinished. */
  readonly resumeAt: number;
  /** The newest entry when it was applied. */
  readonly head: Seq;
}

export interface ApplyRequest extends Pick<StreamPosition, 'stream' | 'resumeAt'> {
  readonly apply: readonly OrderedBatch[];
}

export interface ApplyResponse {
  /**
   * Results by batch, packed by `packResults`; undefined for a batch that was applied before. Or the reason why
   * none could be applied.
   */
  readonly applied: readonly (Float64Array<ArrayBuffer> | undefined)[] | ApplyFailure;
}

type ApplyFailure = 'out-of-space' | 'unavailable';

/**
 * The most by which `sent` may differ from the time at which the stream takes the message: how long a message
 * may travel, and how far the clocks of a gateway and of the stream's leader may differ.
 */
export const VALID_MS: number = 86_400_000;

/** Whether no replica applies a message, because it travelled too long or a clock is wrong. `time`: of the stream. */
export function isVoid(time: number, { sent }: Pick<MessageOrigin, 'sent'>): boolean {
  return Math.abs(time - sent) > VALID_MS;
}

/** A draft that is still there. */
interface SaltedForm {
  /** See `LogFormat` in `replica.ts`. */
  readonly salts: Uint8Array;
}

/** A draft of a withheld entry: kind and room alone are left of it. */
export interface WithheldForm extends Pick<Withholding, 'time' | 'reason'> {
  readonly idSalt: number;
  /** What the link is made of. */
  readonly digest: Uint8Array;
  /** The key column. */
  readonly key: Uint8Array | undefined;
  readonly upload: string | undefined;
}

/** A draft with the idempotency key of a withheld entry: kind and room alone are left of it. */
export interface RepeatForm {
  readonly repeats: Seq;
}

/** A draft that no copy applies: the stream has not all of its body, or another one. */
export interface RefusedForm {
  readonly isRefused: true;
}

export type DraftForm = SaltedForm | WithheldForm | RepeatForm;
