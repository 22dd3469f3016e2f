/** What a form is for, and where. */
import type { Kind } from '@open-presence/protocol';

import type { FormProblem, KindText } from '../../page-data.ts';

export interface SpeakFormProps {
  readonly kind: Kind;
  /** Slug. Without it the visitor chooses one. */
  readonly room?: string;
  /** The id of an entry. */
  readonly inReplyTo?: string;
  readonly to?: readonly string[];
  /** Where to go once the entry is stored, without scripts: see `WritePage`. */
  readonly returnTo?: string;
  /** Stands in forms that the server renders: those in cached pages must have none. */
  readonly idempotencyKey?: string;
  /** Why the form was refused. */
  readonly problem?: FormProblem;
  /** Called once the form stands on the page, with its draft. */
  readonly onRestored?: () => void;
}

/** Where a form stands: the part of its draft's name that tells it from others on its page. */
export function formName({ kind, inReplyTo = '' }: SpeakFormProps): string {
  return `${kind} ${inReplyTo}`;
}

/** The names of all fields that a form of this kind can show. */
export function namesIn({ fields }: KindText): string[] {
  return [...fields.map(({ name }) => name), 'to', 'room'];
}
