/** The closed sets of the wire: kinds of entry, states, error codes. Only the language file has texts about them. */

/** The kinds of entry, spelled as in their paths (interface section 4). */
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
