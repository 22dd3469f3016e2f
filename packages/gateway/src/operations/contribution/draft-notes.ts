/** What an author is told about a stored entry, beside the entry (PROTOCOL.md section 7.9). */
import { quoted } from '@open-presence/protocol';

import { IDEMPOTENCY_KEY, type NearMember } from '../../intake/near-members.ts';
import type { ParsedDraft } from '../../intake/body-reader.ts';
import type { Log, Seq } from '../../log/log.ts';
import { areHeard, notesOnNames, type VisitorsContext } from '../near-visitor.ts';

const NO_REPLY =
  '"inReplyTo" names no entry here, so this entry, which is stored as it is, is a reply to none. To be found as a reply, an entry must have there the "seq" or the "id" of an earlier one, or its path, such as /api/entries/{id}.';
const KEY_PLACES =
  'The key is the header "Idempotency-Key" or the query parameter "idempotency-key" of HTTP, the argument "idempotencyKey" of MCP, the metadata "idempotencyKey" of A2A.';

/** Whether an author may have to be told anything. */
export function mayHaveNotes(
  log: Log,
  { hasReplyTo, near, to = [] }: Pick<ParsedDraft, 'hasReplyTo' | 'near' | 'to'>,
): boolean {
  return hasReplyTo === true || near !== undefined || !areHeard(log, to);
}

/** Empty where there is nothing to add. `seq`: that it was stored with. */
export async function notesOn(
  app: VisitorsContext,
  { hasReplyTo, near = [], to = [] }: ParsedDraft,
  seq: Seq,
): Promise<readonly string[]> {
  const addressed = to.filter((name) => !app.presence.has(name));
  const notes = [...near.map(noteOnMember), ...(await notesOnNames(app, addressed))];
  if (hasReplyTo !== true) return notes;
  const stored = await app.log.entry(seq);
  return stored?.thread === seq ? [...notes, NO_REPLY] : notes;
}

function noteOnMember({ name, known }: NearMember): string {
  if (known === IDEMPOTENCY_KEY) return `${quoted(name)} is stored as a member. ${KEY_PLACES}`;
  return `${quoted(name)} is stored as it is, but is not ${quoted(known)}. Did you mean ${quoted(known)}?`;
}

/** The member `repeated` after a comma. Empty for an entry that was stored by this request. */
export function repeatedMember(isRepeated: boolean): string {
  return isRepeated ? ',"repeated":true' : '';
}

/** The member `notes` in ASCII, after a comma. Empty if there is nothing to add. `others` come first. */
export async function notesMember(
  app: VisitorsContext,
  draft: ParsedDraft,
  seq: Seq,
  others: readonly string[] = [],
): Promise<string> {
  const notes = [...others, ...(await notesOn(app, draft, seq))];
  return notes.length === 0 ? '' : `,"notes":${inAscii(JSON.stringify(notes))}`;
}

function inAscii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
