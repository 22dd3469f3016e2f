/** A message as it was received, with its data parts byte for byte. */
import type { Message, Part } from '@a2a-js/sdk';
import { A2A_ERROR_CODE, JsonRpcRequestMalformedError } from '@a2a-js/sdk/errors';

import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { rawValue, rawValueOfEach } from '../../../json/raw-json.ts';
import { MAX_ENVELOPE_SIZE, type LargeMessage } from '../../large-message.ts';
import { CLASSIFYING_MEMBERS } from '../skills.ts';

export interface ReceivedMessage {
  readonly message: Message;
  /** The metadata of the request and of the message. */
  readonly metadata: JsonObject;
  /** By the index of a part: its data as they arrived. Like its text, they may be a placeholder. */
  rawData(part: number): string | undefined;
  /** Has what the placeholders stand for. */
  readonly large: LargeMessage | undefined;
}

/** The bytes of a request, and where in it the message is. */
export interface MessageSource {
  readonly bytes: Buffer;
  readonly path: readonly string[];
  readonly large: LargeMessage | undefined;
}

export async function receivedMessage(
  message: Message,
  requestMetadata: JsonObject | undefined,
  source: MessageSource,
): Promise<ReceivedMessage> {
  const { large } = source;
  const hasData = message.parts.some(({ content }) => content?.$case === 'data');
  const rawData = hasData ? await readRawData(source) : [];
  const texts = new Map<number, string>();
  const parts: Part[] = [];
  for (const [index, part] of message.parts.entries()) {
    const cut = large?.cutValue(part.content?.value);
    const data = await parseDataText(part, large);
    parts.push(data?.part ?? part);
    if (data !== undefined) texts.set(index, data.text);
    else if (large !== undefined && cut !== undefined) texts.set(index, large.token(cut));
  }
  return {
    message: { ...message, parts },
    metadata: { ...requestMetadata, ...message.metadata },
    rawData: (part) => texts.get(part) ?? rawData[part]?.toString(),
    large,
  };
}

async function readRawData(source: MessageSource): Promise<readonly (Buffer | undefined)[]> {
  const parts = await rawValue(source.bytes, [...source.path, 'parts']);
  return parts === undefined ? [] : await rawValueOfEach(parts, 'data');
}

/** Throws -32600 for values that together are too long to be in memory. */
export class ValueReader {
  readonly #large: LargeMessage | undefined;
  #left = MAX_ENVELOPE_SIZE;

  constructor(large: LargeMessage | undefined) {
    this.#large = large;
  }

  /** The value itself, or what it is the placeholder for. */
  async read(value: unknown): Promise<unknown> {
    const cut = this.#large?.cutValue(value);
    if (this.#large === undefined || cut === undefined) return value;
    this.#left -= cut.end - cut.start;
    if (this.#left < 0) throw tooLong();
    return await this.#large.value(value);
  }
}

/** With the code of any request that is too long. */
function tooLong(): Error {
  const message = `Cannot read the message: what asks to read may take up to ${MAX_ENVELOPE_SIZE} bytes.`;
  const envelopeCode = A2A_ERROR_CODE.INVALID_REQUEST;
  return new JsonRpcRequestMalformedError({ message, envelopeCode });
}

/** Longer texts, in UTF-16 code units, are never taken for data. */
const MAX_DATA_TEXT = 64 * 1024;
/** The longest spelling of a code unit, in bytes. */
const ESCAPE_LENGTH = 6;
/** A JSON object with one of these members is meant as data. */
const DATA_MEMBERS = [...CLASSIFYING_MEMBERS, 'identity'];

interface DataText {
  readonly part: Part;
  readonly text: string;
}

/** Some agents can only send text, so they send data as text. */
async function parseDataText(
  part: Part,
  large: LargeMessage | undefined,
): Promise<DataText | undefined> {
  const { content } = part;
  if (content?.$case !== 'text') return undefined;
  const cut = large?.cutValue(content.value);
  if (cut !== undefined && cut.end - cut.start > ESCAPE_LENGTH * MAX_DATA_TEXT) return undefined;
  const text = String(await new ValueReader(large).read(content.value));
  const data = dataIn(text);
  if (data === undefined) return undefined;
  const { value, token } =
    large !== undefined && cut !== undefined
      ? large.placeholderInside(cut, pick(data, CLASSIFYING_MEMBERS))
      : { value: data, token: text.trim() };
  return { part: { ...part, content: { $case: 'data', value } }, text: token };
}

function dataIn(value: string): JsonObject | undefined {
  if (value.length > MAX_DATA_TEXT) return undefined;
  const text = value.trim();
  if (!text.startsWith('{')) return undefined;
  try {
    const data = toJsonObject(JSON.parse(text));
    return Object.keys(data).some((name) => DATA_MEMBERS.includes(name)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}
