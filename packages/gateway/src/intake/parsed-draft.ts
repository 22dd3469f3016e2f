import type { Draft } from '../log/log.ts';

/** A draft with what its author may be told about it. */
export interface ParsedDraft extends Draft {
  /** The id of the entry that `inReplyTo` names: null for a text that names none. */
  readonly replyTo?: string | null;
}
