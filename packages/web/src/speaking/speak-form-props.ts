/** What a form is for, and where. */
import type { Kind } from '@open-presence/protocol';

import type { Problem } from './outbox.ts';

export interface SpeakFormProps {
  readonly kind: Kind;
  /** Slug. Without it the visitor chooses one. */
  readonly room?: string;
  /** The id of an entry. */
  readonly inReplyTo?: string;
  readonly to?: readonly string[];
  /** Stands in forms that the server renders: those in cached pages must have none. */
  readonly idempotencyKey?: string;
  /** Why the form was refused. */
  readonly problem?: Problem;
}

/** Where a form stands: the part of its draft's name that tells it from others on its page. */
export function formName({ kind, inReplyTo = '' }: SpeakFormProps): string {
  return `${kind} ${inReplyTo}`;
}
