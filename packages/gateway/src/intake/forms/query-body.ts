/** Turns the parameters of a query (PROTOCOL.md section 16) into the JSON text of a body. */
import { yieldPeriodically } from '../../fair-turns.ts';
import { FormMembers } from './form-members.ts';
import type { KindGrammar } from '../grammar.ts';
import { UrlencodedReader } from './urlencoded-reader.ts';

/** How many characters are read before other work may have a turn. */
const PART_LENGTH = 4096;
/** Parameters that are no members. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['idempotency-key', 'as']);

/**
 * A body with a member for each parameter, in the order of the first of each name: a string, or an
 * array of strings for a parameter that is repeated or whose member must be an array. Throws
 * `invalid-parameter` for what is not UTF-8; nothing else is validated. Takes turns with other work.
 */
export async function bodyFromQuery(query: string, kind: KindGrammar): Promise<Buffer> {
  const members = new FormMembers({
    kind,
    reserved: OWN_PARAMETERS,
    maxHeld: Infinity,
    encoding: 'percent-encoded',
  });
  const reader = new UrlencodedReader(members);
  const yieldTurn = yieldPeriodically();
  for (let at = 0; at < query.length; at += PART_LENGTH) {
    reader.feed(Buffer.from(query.slice(at, at + PART_LENGTH), 'latin1'));
    await yieldTurn();
  }
  reader.end();
  const texts: string[] = [];
  for (const text of members.rest()) {
    texts.push(text);
    await yieldTurn();
  }
  return Buffer.from(texts.join(''));
}
