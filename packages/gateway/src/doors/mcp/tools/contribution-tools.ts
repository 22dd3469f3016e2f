/** The tools that store an entry: the bytes of their arguments are its body, unchanged. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  GatewayError,
  OWN_MEMBERS,
  entryPath,
  type Kind,
  type Stamp,
} from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { hashIdempotencyKey } from '../../../intake/idempotency-key.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import { isDeeper } from '../../../json/limits.ts';
import { append, draftFor } from '../../../operations/append.ts';
import { notesOn } from '../../../operations/draft-notes.ts';
import { companionsFor } from '../../../operations/first-contact.ts';
import { nextActions } from '../../../operations/next-actions.ts';
import { rawArguments, takeMember } from '../json-rpc.ts';
import { entryUri } from '../resources.ts';
import { callToolResult, MAX_DEPTH, parseObject, stampObject, type ToolResult } from './results.ts';
import { CONTRIBUTION_TOOLS, type ToolContext } from './tool-call.ts';

const KEY = 'idempotencyKey';

interface StoredEntry {
  readonly stamp: Stamp;
  readonly notes: readonly string[];
}

export function contribute(kind: Kind): (context: ToolContext) => Promise<CallToolResult> {
  return async (context) => {
    const stored = describeStored(context, await appendArguments(context, kind));
    return callToolResult(context, { ...stored, lines: [], untrusted: {} });
  };
}

export async function firstContact(context: ToolContext): Promise<CallToolResult> {
  const { app, language, text } = context;
  const stored = await appendArguments(context, 'resonance');
  const { stamp } = stored;
  const entry = await app.log.entry(stamp.seq);
  // Large entries are not parsed to look for what they seek.
  const companions = entry?.text === undefined ? [] : await companionsFor(app, stamp, entry.text);
  const lines = companions.map(companionLine);
  const welcome = text(language.welcome);
  const { summary, own } = describeStored(context, stored);
  const { alone, companions: several } = language.mcp.results;
  const hint = text(lines.length === 0 ? alone : several);
  return callToolResult(context, {
    summary: [welcome, summary, hint].join('\n'),
    own: { ...own, welcome, next: nextCalls(context, entry?.text) },
    lines,
    untrusted: { companions: lines.map(parseObject) },
  });
}

/** Calls of tools: where to go from here. */
function nextCalls({ language, locale }: Localization, text: Uint8Array | undefined): JsonObject[] {
  return nextActions(language, locale, text).map(({ title, action, values }) => {
    const tool =
      action === 'read'
        ? 'read'
        : action === 'presence'
          ? 'who_is_here'
          : CONTRIBUTION_TOOLS[action];
    return { title, tool, arguments: values };
  });
}

/** The entry, or only the gateway's members of one that is too deep for a result. */
function companionLine(text: Uint8Array): string {
  const line = Buffer.from(text).toString();
  if (!isDeeper(text, MAX_DEPTH)) return line;
  const members = parseObject(line);
  return JSON.stringify(Object.fromEntries(OWN_MEMBERS.map((name) => [name, members[name]])));
}

function describeStored(
  { language, text }: Localization,
  { stamp, notes }: StoredEntry,
): Pick<ToolResult, 'summary' | 'own'> {
  const { id, seq, room } = stamp;
  const summary = `${text(language.labels.kept)} ${entryUri(id)} (seq ${seq}, room ${room})`;
  return {
    summary: [summary, ...notes].join('\n'),
    own: { ...stampObject(stamp), path: entryPath(id), ...(notes.length === 0 ? {} : { notes }) },
  };
}

/** Resolves once the entry is durable. */
async function appendArguments({ app, bytes, id }: ToolContext, kind: Kind): Promise<StoredEntry> {
  const { value, rest } = await takeMember(await rawArguments(bytes, id), KEY);
  const key =
    value === undefined || value === null
      ? undefined
      : hashIdempotencyKey(undefined, checkKey(value));
  const draft = await draftFor(app, { kind, body: rest, key });
  return { stamp: await append(app.log, draft), notes: await notesOn(app.log, draft) };
}

function checkKey(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  const detail = `"${KEY}" must be a string of at least one character`;
  throw new GatewayError('invalid-entry', `Cannot store the entry: ${detail}`, {
    faults: [{ pointer: `/${KEY}`, detail }],
  });
}
