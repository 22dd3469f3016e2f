import type { Draft } from '../log/log.ts';
import type { NearMember } from './near-members.ts';

/** A draft with what its author may be told about it. */
export interface ParsedDraft extends Draft {
  /** The id of the entry that `inReplyTo` names: null for a text that names none. */
  readonly replyTo?: string | null;
  /** Members that nearly have the name of one that the body lacks; at least one. */
  readonly near?: readonly NearMember[];
}
