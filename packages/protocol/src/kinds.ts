/** Closed sets of the wire: kinds of entry, states, error codes. Texts about them are in the language file only. */

/** The kinds of entry, spelled as their path segment (interface section 4). */
export const KINDS = ['resonance', 'garden', 'seeds', 'shepit'] as const;
export type Kind = (typeof KINDS)[number];

/** The values of `status` (PROTOCOL.md section 2). */
export const STATES = ['breathing', 'waking', 'holding', 'resting'] as const;
export type State = (typeof STATES)[number];

/** Error codes (PROTOCOL.md section 11). */
export const CODES = [
  'malformed-json',
  'invalid-entry',
  'unknown-room',
  'unknown-kind',
  'invalid-parameter',
  'not-found',
  'method-not-allowed',
  'foreign-page',
  'idempotency-conflict',
  'misdirected',
  'out-of-space',
  'unavailable',
  'internal',
] as const;
export type Code = (typeof CODES)[number];

export function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}
