/** A message as it was received, with its data parts byte for byte. */
import type { Message, Part } from '@a2a-js/sdk';

import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { rawValue, rawValueOfEach } from '../../../json/raw-json.ts';

export interface ReceivedMessage {
  readonly message: Message;
  /** The metadata of the request and of the message. */
  readonly metadata: JsonObject;
  /** By the index of a part: its data as they were sent. */
  rawData(part: number): string | undefined;
}

/** The bytes of a request, and where in it the message is. */
export interface MessageSource {
  readonly bytes: Buffer;
  readonly path: readonly string[];
}

export async function receivedMessage(
  message: Message,
  requestMetadata: JsonObject | undefined,
  source: MessageSource,
): Promise<ReceivedMessage> {
  const textData = new Map<number, string>();
  const parts = message.parts.map((part, index) => {
    const data = parseDataText(part);
    if (data === undefined) return part;
    textData.set(index, data.text);
    return data.part;
  });
  const hasData = message.parts.some(({ content }) => content?.$case === 'data');
  const rawData = hasData ? await readRawData(source) : [];
  return {
    message: { ...message, parts },
    metadata: { ...requestMetadata, ...message.metadata },
    rawData: (part) => textData.get(part) ?? rawData[part]?.toString(),
  };
}

async function readRawData(source: MessageSource): Promise<readonly (Buffer | undefined)[]> {
  const parts = await rawValue(source.bytes, [...source.path, 'parts']);
  return parts === undefined ? [] : await rawValueOfEach(parts, 'data');
}

/** Longer texts, in UTF-16 code units, are never taken for data. */
const MAX_DATA_TEXT = 64 * 1024;
/** A JSON object with one of these members is meant as data. */
const DATA_MEMBERS = ['skill', 'kind', 'ai_identity', 'identity'];

/** Some agents can only send text, so they send data as text. */
function parseDataText(part: Part): { readonly part: Part; readonly text: string } | undefined {
  const { content } = part;
  if (content?.$case !== 'text' || content.value.length > MAX_DATA_TEXT) return undefined;
  const text = content.value.trim();
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isData = Object.keys(toJsonObject(value)).some((name) => DATA_MEMBERS.includes(name));
    if (!isData) return undefined;
    return { part: { ...part, content: { $case: 'data', value } }, text };
  } catch {
    return undefined;
  }
}
