/** How drafts that a stream has put in order are sent to the writer's thread, and its results back. */
import type { PackedDraft } from './batch.ts';
import type { DraftForm, RefusedForm } from './draft-form.ts';
import type { MessageOrigin } from './stream-progress.ts';

/** What one message of the stream has for the writer. */
interface OrderedBatch extends MessageOrigin {
  /** Sequence of the message in the stream. */
  readonly position: number;
  /** When the stream took the message, in ms since 1970. */
  readonly time: number;
  /** 32 random bytes, from which the salts of its entries come. */
  readonly nonce: Uint8Array;
  /** Packed by `packDrafts`; empty for a message that has none. */
  readonly drafts: ArrayBuffer;
  /** For each draft; undefined for those of which nothing else is to be known. */
  readonly forms?: readonly (DraftForm | RefusedForm | undefined)[] | undefined;
  /** Uploads that were given up since the message before: their chunks are to be erased in the stream. */
  readonly unusedUploads?: readonly string[];
}

export interface UnpackedBatch extends Omit<OrderedBatch, 'drafts'> {
  readonly drafts: readonly PackedDraft[];
}

/** Applies the batches in one transaction. */
export interface ApplyRequest {
  readonly apply: readonly OrderedBatch[];
  /** See `StreamPosition`. */
  readonly stream: string;
  /** See `StreamPosition`. */
  readonly resumeAt: number;
}

export interface ApplyResponse {
  /**
   * For each batch its results, packed by `packResults`: undefined if it was applied before. Or why
   * none of them could be applied.
   */
  readonly applied: readonly (Float64Array<ArrayBuffer> | undefined)[] | ApplyFailure;
}

type ApplyFailure = 'out-of-space' | 'unavailable';
