/** Stores what a message contributes, and answers with what was stored (PROTOCOL.md section 19.3). */
import type { Message, Part } from '@a2a-js/sdk';
import { entryPath } from '@open-presence/protocol';

import type { ParsedDraft } from '../../intake/body-reader.ts';
import { portableEntry } from '../../json/portable-entry.ts';
import type { Entry } from '../../log/log.ts';
import { append, draftFor, type StoredEntry } from '../../operations/contribution/append.ts';
import { notesOn } from '../../operations/contribution/draft-notes.ts';
import {
  companionsFor,
  nextActions,
  type NextAction,
} from '../../operations/contribution/first-contact.ts';
import { localizationFor, type DoorRequest } from '../context.ts';
import { notesOnNumbers } from '../json-message.ts';
import { KIND_SKILLS, SKILLS } from './skills.ts';
import { contributionsOf, isUnsignedText, type ReceivedMessage } from './message.ts';
import { agentMessage, dataPart, entryValue, textPart, visitorPart } from './parts.ts';

/** All entries are judged before the first is stored; each is stored once by its key. */
export async function storeMessage(
  context: DoorRequest,
  received: ReceivedMessage,
): Promise<Message> {
  const { app, request } = context;
  await using spools = new AsyncDisposableStack();
  const drafts: ParsedDraft[] = [];
  for (const { kind, json, key } of contributionsOf(received, request)) {
    const draft = await draftFor(app, { kind, body: Buffer.from(json), key });
    if (!(draft.body instanceof Uint8Array)) spools.use(draft.body);
    drafts.push(draft);
  }
  const parts: Part[] = [];
  for (const draft of drafts) {
    const stored = await append(app.log, draft);
    const notes = notesOnNumbers(received.changed, stored.metadata.kind);
    notes.push(...(await notesOn(app, draft, stored.metadata.seq)));
    parts.push(...(await storedParts(context, stored, notes)));
  }
  // After the text that says where the entry is.
  if (isUnsignedText(received)) parts.splice(1, 0, unsignedPart(context));
  return agentMessage(parts, received.message.contextId);
}

/** What the answer has of a stored entry. */
async function storedParts(
  context: DoorRequest,
  { metadata, isRepeated }: StoredEntry,
  notes: readonly string[],
): Promise<Part[]> {
  const { language, text } = localizationFor(context);
  const { id, seq, kind, room } = metadata;
  const timestamp = new Date(metadata.time).toISOString();
  const path = entryPath(id);
  const repeated = isRepeated ? { repeated: true } : {};
  const own = { id, seq, kind, room, timestamp, path, ...repeated };
  const exact = await context.app.log.entry(seq, 'exact');
  const entry = exact && portableEntry(exact);
  const { kept, withheld } = language.labels;
  // Stored before: this is a retry.
  if (entry?.withheld !== undefined) {
    const note = `${text(withheld)}: ${entry.withheld.reason}\n${path}`;
    return [
      textPart(note),
      dataPart(own),
      visitorPart(context, { entry: await entryValue(entry) }),
    ];
  }
  const note = `${text(kept)} ${path}`;
  const members = notes.length === 0 ? own : { ...own, notes };
  const parts = [textPart([note, ...notes].join('\n')), dataPart(members)];
  if (exact === undefined || entry === undefined) return parts;
  parts.push(visitorPart(context, { entry: await entryValue(entry) }));
  if (kind === 'resonance') parts.push(...(await welcomeParts(context, exact)));
  return parts;
}

/** Says what became of a text without skill and author, how to sign, and how to read. */
function unsignedPart(context: DoorRequest): Part {
  const { language, text } = localizationFor(context);
  return textPart(`${text(language.labels.unsigned)} ${SKILLS.join(', ')}.`);
}

const NEXT_SKILLS = {
  ...KIND_SKILLS,
  read: 'read',
  'catch-up': 'catch-up',
  presence: 'who-is-here',
} as const;

/** A step as the data of a message. */
function nextData({ title, action, values }: NextAction): object {
  return { title, data: { skill: NEXT_SKILLS[action], ...values } };
}

async function welcomeParts(context: DoorRequest, entry: Entry): Promise<Part[]> {
  const { language, locale, text } = localizationFor(context);
  const isSmall = entry.text !== undefined;
  const companions = isSmall ? await companionsFor(context.app, entry.metadata, entry.text) : [];
  return [
    textPart(text(language.welcome)),
    dataPart({ next: nextActions(language, locale, entry.text).map(nextData) }),
    visitorPart(context, {
      companions: companions.map((one): unknown => JSON.parse(Buffer.from(one).toString())),
    }),
  ];
}
