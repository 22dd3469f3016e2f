/**
 * What a copy needs to know of a draft beside the draft. If its message was replaced in the stream, that is
 * what would follow from the message that is gone: the entry gets the same seq and link as on the copies
 * that read it before.
 */
import type { Seq } from '../../../log/log.ts';
import type { WithheldMember } from './record.ts';

/** A draft that is still there. */
interface SaltedForm {
  /** See `saltsOf`. */
  readonly salts: Uint8Array;
}

/** A draft of a withheld entry: kind and room alone are left of it. */
export interface WithheldForm extends WithheldMember {
  readonly idSalt: number;
  /** What the link is made of. */
  readonly digest: Uint8Array;
  /** The key column. */
  readonly key: Uint8Array | undefined;
  /** Name of the upload that had the body. */
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
