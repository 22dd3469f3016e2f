/** What a form is for, and where it stands. */
import type { Kind } from '@open-presence/protocol';

import type { FormProblem, KindText } from '../../page-data.ts';

export interface SpeakFormProps {
  readonly kind: Kind;
  /** Slug. Without it the visitor chooses one. */
  readonly room?: string | undefined;
  readonly inReplyTo?: string | undefined;
  readonly to?: readonly string[] | undefined;
  /** Where to go after the entry is stored, if the browser posts the form: see `WritePage`. */
  readonly returnTo?: string;
  /** Set in forms that the server renders. Cached pages must have none. */
  readonly idempotencyKey?: string;
  readonly problem?: FormProblem;
  /** Called when the form is on the page, with its draft. */
  readonly onRestored?: () => void;
}

/** Tells a form from others on its page: a part of the name of its draft. */
export function formName({ kind, inReplyTo = '' }: SpeakFormProps): string {
  return `${kind} ${inReplyTo}`;
}

/** The names of all fields that a form of this kind can show. */
export function namesIn({ fields }: KindText): string[] {
  return [...fields.map(({ name }) => name), 'to', 'room'];
}
