/** Builds the parts of messages and artifacts that the gateway sends. */
import { randomUUID } from 'node:crypto';

import { Role, type Message, type Part } from '@a2a-js/sdk';
import { entryHead, entryPath } from '@open-presence/protocol';

import type { Entry } from '../../log/log.ts';
import { readEntryText } from '../../operations/find-entry.ts';
import { localizationFor, type DoorRequest } from '../context.ts';

/** Larger entries, in bytes, are sent as the gateway's members with the path of the whole. */
const MAX_ENTRY_SIZE = 64 * 1024;

const NO_FILE = { filename: '', metadata: undefined };

/** A text of the gateway. */
export function textPart(text: string): Part {
  return { ...NO_FILE, content: { $case: 'text', value: text }, mediaType: 'text/plain' };
}

/** Data of the gateway. */
export function dataPart(value: unknown): Part {
  return { ...NO_FILE, content: { $case: 'data', value }, mediaType: 'application/json' };
}

/** Data of visitors, marked as untrusted. */
export function visitorPart(context: DoorRequest, value: unknown): Part {
  const { language, text } = localizationFor(context);
  const note = text(language.labels.untrusted);
  return { ...dataPart(value), metadata: { untrusted: true, note } };
}

/** A message in the same context, or in a new one. */
export function agentMessage(parts: Part[], contextId: string): Message {
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

/** For a large one, see `MAX_ENTRY_SIZE`. */
export async function entryValue(entry: Entry): Promise<unknown> {
  const { metadata, size } = entry;
  if (size <= MAX_ENTRY_SIZE) return JSON.parse(await readEntryText(entry));
  return JSON.parse(`${entryHead(metadata)},"path":"${entryPath(metadata.id)}","size":${size}}`);
}
