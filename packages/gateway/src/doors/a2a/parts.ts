/** Messages, tasks and parts as the SDK spells them, of what the gateway has to say. */
import { randomUUID } from 'node:crypto';

import { Role, TaskState, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk';
import { entryHead, localize, type Stamp } from '@open-presence/protocol';

import type { Entry } from '../../log/log.ts';
import type { DoorRequest } from '../context.ts';
import { localeFor } from '../../http/context.ts';
import type { RawJson } from '../../json/raw-json.ts';

/** Longer entries are told by their own members, with the path of the whole. */
const LONGEST_TOLD = 64 * 1024;

/** The gateway's own words. */
export function words(text: string): Part {
  return {
    content: { $case: 'text', value: text },
    metadata: undefined,
    filename: '',
    mediaType: 'text/plain',
  };
}

/** The gateway's own facts. */
export function facts(value: unknown): Part {
  return { ...PLAIN, content: { $case: 'data', value }, metadata: undefined };
}

/** Visitors' words, marked as anyone's. */
export function heard({ app, request }: DoorRequest, value: unknown): Part {
  const note = localize(app.language.labels.untrusted, localeFor(request));
  return { ...PLAIN, content: { $case: 'data', value }, metadata: { untrusted: true, note } };
}

const PLAIN = { filename: '', mediaType: 'application/json' };

/** Data as words, behind those that say whose they are. */
export function asWords(part: Part, verbatim: RawJson): Part {
  const { content, metadata } = part;
  if (content?.$case !== 'data') return part;
  const note = typeof metadata?.['note'] === 'string' ? `${metadata['note']}\n` : '';
  const value = `${note}${verbatim.stringify(content.value)}`;
  return { ...part, content: { $case: 'text', value }, mediaType: 'text/plain' };
}

/** Longer words are words, whatever they look like. */
const LONGEST_DATA = 64 * 1024;
/** By these, data are known for what they are. */
const TELLING = ['skill', 'kind', 'ai_identity', 'identity'];

/** Data that were sent as words, since some agents have no others, and how they are spelled. */
export function dataInWords(
  part: Part,
): { readonly part: Part; readonly text: string } | undefined {
  const { content } = part;
  if (content?.$case !== 'text' || content.value.length > LONGEST_DATA) return undefined;
  const text = content.value.trim();
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (!names.some((name) => TELLING.includes(name))) return undefined;
    return { part: { ...part, content: { $case: 'data', value } }, text };
  } catch {
    return undefined;
  }
}

export function messageOf(parts: Part[], { contextId }: Message): Message {
  return {
    messageId: randomUUID(),
    contextId: contextId === '' ? randomUUID() : contextId,
    taskId: '',
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function pathOf({ id }: Stamp): string {
  return `/api/entries/${id}`;
}

/** The entry as it is spelled, or if it is long, the gateway's part of it and where the whole is. */
export async function toldAs(entry: Entry, verbatim: RawJson): Promise<string> {
  if (entry.size > LONGEST_TOLD) {
    const { stamp, size } = entry;
    return verbatim.placeholder(`${entryHead(stamp)},"path":"${pathOf(stamp)}","size":${size}}`);
  }
  if (entry.text !== undefined) return verbatim.placeholder(Buffer.from(entry.text).toString());
  const pieces = await Array.fromAsync(entry.chunks(), (piece) => Buffer.from(piece));
  return verbatim.placeholder(Buffer.concat(pieces).toString());
}

/** What is followed, as a task that works until its reader leaves. */
export function taskOf(id: string, contextId: string, timestamp: string): Task {
  return {
    id,
    contextId,
    status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp },
    artifacts: [],
    history: [],
    metadata: undefined,
  };
}

export function artifactOf({ id, kind, seq }: Stamp, part: Part): Artifact {
  return {
    artifactId: id,
    name: kind,
    description: '',
    parts: [part],
    metadata: { seq },
    extensions: [],
  };
}
