/** What an author is told about a stored entry, beside the entry (PROTOCOL.md section 7.9). */
import type { ParsedDraft } from '../intake/parsed-draft.ts';
import type { Log } from '../log/log.ts';
import { entryWithId } from './find-entry.ts';

const NO_REPLY =
  '"inReplyTo" names no entry here, so this entry, which is stored as it is, is a reply to none. To be found as a reply, an entry must have there the "id" of another one, or its path, such as /api/entries/{id}.';

/** Empty where there is nothing to add. Without `inReplyTo`, nothing is read. */
export async function notesOn(log: Log, { replyTo }: ParsedDraft): Promise<readonly string[]> {
  if (replyTo === undefined) return [];
  const isFound = replyTo !== null && (await entryWithId(log, replyTo)) !== undefined;
  return isFound ? [] : [NO_REPLY];
}

/** The member `notes` in ASCII, after a comma; empty where there is nothing to add. */
export async function notesMember(log: Log, draft: ParsedDraft): Promise<string> {
  const notes = await notesOn(log, draft);
  return notes.length === 0 ? '' : `,"notes":${JSON.stringify(notes)}`;
}
