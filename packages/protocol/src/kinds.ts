/**
 * The closed sets of the wire: kinds of entry, states of the gateway, codes of errors.
 * Their meanings in words live in the language file, never here.
 */

/** The kinds of entry, spelled as their path segment (interface section 4). */
export const KINDS = ['resonance', 'garden', 'seeds', 'shepit'] as const;
export type Kind = (typeof KINDS)[number];

/** The conditions that the status document can name (PROTOCOL.md section 2). */
export const STATES = ['breathing', 'waking', 'holding', 'resting'] as const;
export type State = (typeof STATES)[number];

/** The codes that an error can carry (PROTOCOL.md section 11). */
export const CODES = [
  'malformed-json',
  'invalid-entry',
  'unknown-room',
  'unknown-kind',
  'invalid-parameter',
  'not-found',
  'method-not-allowed',
  'idempotency-conflict',
  'out-of-space',
  'unavailable',
  'internal',
] as const;
export type Code = (typeof CODES)[number];

/** Whether a word from outside names a kind. */
export function isKind(word: string): word is Kind {
  return (KINDS as readonly string[]).includes(word);
}
