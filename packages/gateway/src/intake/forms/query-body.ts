/** Turns the parameters of a query (PROTOCOL.md section 16) into the JSON text of a body. */
import type { KindGrammar } from '../grammar.ts';
import { FormMembers } from './form-members.ts';
import { UrlencodedReader } from './urlencoded.ts';

/** Parameters that are no members. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['idempotency-key', 'as']);

/**
 * A body with a member for each parameter, in the order of the first of each name: a string, or an
 * array of strings for a parameter that is repeated or whose member must be an array. Throws
 * `invalid-parameter` for what is not UTF-8; nothing else is validated.
 */
export function bodyFromQuery(query: string, kind: KindGrammar): Buffer {
  const members = new FormMembers({
    kind,
    reserved: OWN_PARAMETERS,
    maxHeld: Infinity,
    encoding: 'percent-encoded',
  });
  const reader = new UrlencodedReader(members);
  reader.feed(Buffer.from(query, 'latin1'));
  reader.end();
  return members.end();
}
