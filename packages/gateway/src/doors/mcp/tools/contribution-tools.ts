/** The tools that store an entry: their arguments are its body. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { GatewayError, entryPath, type Kind } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { hashIdempotencyKey } from '../../../intake/idempotency-key.ts';
import { isJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { append, draftFor, type StoredEntry } from '../../../operations/contribution/append.ts';
import { notesOn } from '../../../operations/contribution/draft-notes.ts';
import { companionsFor, nextActions } from '../../../operations/contribution/first-contact.ts';
import { withheldMember } from '../../../operations/withholding/withholdings.ts';
import { notesOnNumbers, parseMessage } from '../../json-message.ts';
import { entryUri } from '../resources.ts';
import { callToolResult, stampObject, type ToolResult } from './results.ts';
import {
  callOfRead,
  CONTRIBUTION_TOOLS,
  type OWN_ARGUMENTS,
  type ToolContext,
} from './tool-call.ts';

interface NotedEntry extends StoredEntry {
  readonly notes: readonly string[];
  /** Set where it was stored before and has been withheld since. */
  readonly withheld: ReturnType<typeof withheldMember>;
}

type ToolFunction = (context: ToolContext, args: JsonObject) => Promise<CallToolResult>;

export function contribute(kind: Kind): ToolFunction {
  return async (context, args) => {
    const stored = describeStored(context, await appendArguments(context, args, kind));
    return callToolResult(context, { ...stored, lines: [] });
  };
}

export async function firstContact(
  context: ToolContext,
  args: JsonObject,
): Promise<CallToolResult> {
  const { app, language, text } = context;
  const stored = await appendArguments(context, args, 'resonance');
  const { metadata, withheld } = stored;
  const { summary, own } = describeStored(context, stored);
  const entry = await app.log.entry(metadata.seq, 'exact');
  const next = nextCalls(context, entry?.text);
  if (withheld !== undefined) {
    return callToolResult(context, { summary, own: { ...own, next }, lines: [] });
  }
  // Large entries are not parsed to look for what they seek.
  const companions =
    entry?.text === undefined ? [] : await companionsFor(app, metadata, entry.text);
  const lines = companions.map((companion) => Buffer.from(companion).toString());
  const { alone, companions: several } = language.mcp.results;
  const hint = text(lines.length === 0 ? alone : several);
  return callToolResult(context, {
    summary: [text(language.welcome), summary, hint].join('\n'),
    own: { ...own, next },
    lines,
  });
}

const NEXT_TOOLS = {
  ...CONTRIBUTION_TOOLS,
  'catch-up': 'catch_up',
  presence: 'who_is_here',
} as const;

/** Calls of tools: where to go from here. */
function nextCalls({ language, locale }: Localization, text: Uint8Array | undefined): JsonObject[] {
  return nextActions(language, locale, text).map(({ title, action, values }) => {
    if (action === 'read') return { title, ...callOfRead(values) };
    return { title, tool: NEXT_TOOLS[action], arguments: values };
  });
}

function describeStored(
  { language, text }: Localization,
  { metadata, isRepeated, notes, withheld }: NotedEntry,
): Pick<ToolResult, 'summary' | 'own'> {
  const { kept, withheld: takenAway } = language.labels;
  const repeated = isRepeated ? { repeated: true } : {};
  const own = { ...stampObject(metadata), path: entryPath(metadata.id), ...repeated };
  if (withheld !== undefined) return { summary: text(takenAway), own: { ...own, withheld } };
  return {
    summary: `${text(kept)} ${entryUri(metadata.id)}`,
    own: { ...own, ...(notes.length === 0 ? {} : { notes }) },
  };
}

/** Resolves once the entry is durable. */
async function appendArguments(
  context: ToolContext,
  args: JsonObject,
  kind: Kind,
): Promise<NotedEntry> {
  const { app, changed } = context;
  const { key, body } = readArguments(context, args);
  const draft = await draftFor(app, { kind, body, key });
  const stored = await append(app.log, draft);
  const earlier = stored.isRepeated ? await app.log.entry(stored.metadata.seq) : undefined;
  const withheld = earlier && withheldMember(earlier);
  const { seq } = stored.metadata;
  const notes = [...notesOnNumbers(changed, kind), ...(await notesOn(app, draft, seq))];
  return { ...stored, notes, withheld };
}

/** The idempotency key, and the body of the entry: the other arguments. */
function readArguments(
  { headerKey, changed }: ToolContext,
  { idempotencyKey, furtherMembers, ...members }: JsonObject,
): { key: Uint8Array | undefined; body: Buffer } {
  const key = keyIn(idempotencyKey) ?? headerKey();
  return {
    key,
    body: Buffer.from(JSON.stringify({ ...members, ...furtherIn(furtherMembers, changed) })),
  };
}

function keyIn(value: unknown): Uint8Array | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '') return hashIdempotencyKey(undefined, value);
  throw invalidArgument('idempotencyKey', 'must be a string of at least one character');
}

/** An object, or an object's JSON text: strict clients cannot send an open object. */
function furtherIn(value: unknown, changed: Set<string>): JsonObject {
  if (value === undefined || value === null || isJsonObject(value)) return value ?? {};
  try {
    const read = typeof value === 'string' ? parseMessage(value, changed) : undefined;
    if (isJsonObject(read)) return read;
  } catch {
    // Said below.
  }
  throw invalidArgument('furtherMembers', 'must be a JSON object as text, such as {"mood":"calm"}');
}

function invalidArgument(name: (typeof OWN_ARGUMENTS)[number], what: string): GatewayError {
  const detail = `"${name}" ${what}`;
  return new GatewayError('invalid-entry', `Cannot store the entry: ${detail}`, {
    faults: [{ pointer: `/${name}`, detail }],
  });
}
