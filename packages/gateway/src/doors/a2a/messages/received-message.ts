/** A message as it was received. */
import type { Message, Part } from '@a2a-js/sdk';

import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { CLASSIFYING_MEMBERS } from '../skills.ts';

export interface ReceivedMessage {
  readonly message: Message;
  /** The metadata of the request and of the message. */
  readonly metadata: JsonObject;
}

export function receivedMessage(
  message: Message,
  requestMetadata: JsonObject | undefined,
): ReceivedMessage {
  const parts = message.parts.map((part) => dataPartIn(part) ?? part);
  return { message: { ...message, parts }, metadata: { ...requestMetadata, ...message.metadata } };
}

/** A JSON object with one of these members is meant as data. */
const DATA_MEMBERS = [...CLASSIFYING_MEMBERS, 'identity'];

/** Some agents can only send text, so they send data as text. */
function dataPartIn(part: Part): Part | undefined {
  const { content } = part;
  if (content?.$case !== 'text' || !content.value.trimStart().startsWith('{')) return undefined;
  try {
    const value = toJsonObject(JSON.parse(content.value));
    if (!Object.keys(value).some((name) => DATA_MEMBERS.includes(name))) return undefined;
    return { ...part, content: { $case: 'data', value } };
  } catch {
    return undefined;
  }
}
