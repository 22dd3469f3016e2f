/** Tools that say something: their arguments are the body of an entry, letter by letter. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  GatewayError,
  OWN_MEMBERS,
  localize,
  type Kind,
  type Stamp,
} from '@open-presence/protocol';

import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import { append, draftFor } from '../../operations/append.ts';
import { companionsFor, nextSteps } from '../../operations/first-contact.ts';
import { argumentsIn, taken } from './json-rpc.ts';
import { isDeeper } from '../../json/limits.ts';
import { DEEPEST, fieldsOf, resultOf, stampFields } from './results.ts';
import type { ToolContext } from './tool-context.ts';

const KEY = 'idempotencyKey';

export function keep(kind: Kind): (context: ToolContext) => Promise<CallToolResult> {
  return async (context) => {
    const { app } = context.call.context;
    const stamp = await kept(context, kind);
    const { summary, own } = told(context, stamp);
    return resultOf(app.language, context.locale, { summary, own, lines: [], words: {} });
  };
}

export async function firstContact(context: ToolContext): Promise<CallToolResult> {
  const { app } = context.call.context;
  const { language, log } = app;
  const stamp = await kept(context, 'resonance');
  const entry = await log.entry(stamp.seq);
  const { text } = entry ?? {};
  // A text of any length is not parsed for what it seeks.
  const companions = text === undefined ? [] : await companionsFor(app, stamp, text);
  const lines = companions.map(toldLine);
  const welcome = localize(language.welcome, context.locale);
  const { summary, own } = told(context, stamp);
  const { alone, companions: several } = language.mcp.results;
  const others = localize(lines.length === 0 ? alone : several, context.locale);
  return resultOf(language, context.locale, {
    summary: [welcome, summary, others].join('\n'),
    own: { ...own, welcome, next: nextSteps(language, context.locale) },
    lines,
    words: { companions: lines.map(fieldsOf) },
  });
}

/** What cannot be printed as a value is told by its own members. */
function toldLine(text: Uint8Array): string {
  const line = Buffer.from(text).toString();
  if (!isDeeper(text, DEEPEST)) return line;
  const members = fieldsOf(line);
  return JSON.stringify(Object.fromEntries(OWN_MEMBERS.map((name) => [name, members[name]])));
}

function told(
  context: ToolContext,
  stamp: Stamp,
): { summary: string; own: Record<string, unknown> } {
  const path = `/api/entries/${stamp.id}`;
  const kept = localize(context.call.context.app.language.labels.kept, context.locale);
  const summary = `${kept} ${path} (seq ${stamp.seq}, room ${stamp.room})`;
  return { summary, own: { ...stampFields(stamp), path } };
}

/** The way of every entry: judged, appended, durable. */
async function kept({ call, id }: ToolContext, kind: Kind): Promise<Stamp> {
  const { app } = call.context;
  const { value, rest } = await taken(await argumentsIn(call.bytes, id), KEY);
  const key =
    value === undefined || value === null
      ? undefined
      : hashIdempotencyKey(undefined, textOf(value));
  return await append(app.log, await draftFor(app, { kind, body: rest, key }));
}

function textOf(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  const detail = `"${KEY}" must be a string of at least one character`;
  throw new GatewayError('invalid-entry', `Cannot store the entry: ${detail}`, {
    faults: [{ pointer: `/${KEY}`, detail }],
  });
}
