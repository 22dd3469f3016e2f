/**
 * How both bindings of A2A receive a request. Of a large one, the texts, data and files of its parts
 * stay in a file.
 */
import { isUtf8 } from 'node:buffer';

import { GatewayError } from '@open-presence/protocol';

import { queryOf } from '../../http/parameters/query.ts';
import { runInTurn } from '../../http/request/large-message-queue.ts';
import type { JsonPath } from '../../json/path-finder.ts';
import type { DoorRequest } from '../context.ts';
import {
  MAX_ENVELOPE_SIZE,
  receiveMessage,
  SMALL_MESSAGE_SIZE,
  type LargeMessage,
} from '../large-message.ts';
import { CLASSIFYING_MEMBERS } from './skills.ts';

export interface ReceivedRequest {
  /**
   * The request, or the envelope of a large one. Throws `malformed-json` for a body that is not UTF-8
   * or not JSON, and `invalid-entry` for an envelope that is too long.
   */
  bytes(): Promise<Buffer>;
  readonly large?: LargeMessage;
  /** Call it when a stream starts, which may never end: it lets the next large request start. */
  streamStarted(): void;
}

/** `messagePath`: where requests of this binding have their message. */
export function receiveRequest(
  context: DoorRequest,
  messagePath: JsonPath,
  handle: (received: ReceivedRequest) => Promise<void>,
): void {
  const parts = [...messagePath, 'parts', null];
  receiveMessage(context, {
    shape: {
      cut: CONTENTS.map((name) => [...parts, ...name]),
      kept: CLASSIFYING_MEMBERS.map((name) => [...parts, 'data', name]),
    },
    handleSmall: (body) => handle({ bytes: () => checkedBody(body), streamStarted() {} }),
    async handleLarge(large) {
      const bytes = (): Promise<Buffer> => envelopeOf(large);
      if (large.envelopeSize <= SMALL_MESSAGE_SIZE) {
        await handle({ bytes, large, streamStarted() {} });
      } else await runInTurn((streamStarted) => handle({ bytes, large, streamStarted }));
    },
    refuse: (error) => handle({ bytes: () => Promise.reject(error), streamStarted() {} }),
  });
}

/** What a part has one of. */
const CONTENTS = [['text'], ['data'], ['raw'], ['file', 'bytes']];

async function envelopeOf(large: LargeMessage): Promise<Buffer> {
  const envelope = await large.envelope();
  if (envelope === undefined) throw new GatewayError('invalid-entry', TOO_LONG);
  return envelope;
}

async function checkedBody(body: Buffer): Promise<Buffer> {
  if (!isUtf8(body)) throw new GatewayError('malformed-json', NO_UTF8);
  return body;
}

/** Parses a body of UTF-8. Throws `malformed-json`. */
export function parseRequest(bytes: Buffer, example: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `Cannot read the request: it is not JSON. Send an object such as ${example}.`;
    throw new GatewayError('malformed-json', detail);
  }
}

/**
 * The version of A2A that a header or a query parameter requests, without its patch version (A2A
 * section 3.6); undefined for a request without one.
 */
export function requestedVersion({ request }: DoorRequest): string | undefined {
  const header = request.headers['a2a-version'];
  const value = typeof header === 'string' ? header : queryOf(request).get('A2A-Version');
  const version = value?.trim() ?? '';
  return version === '' ? undefined : version.replace(/^(\d+\.\d+)\.\d+$/, '$1');
}

const NO_UTF8 = 'Cannot read the message: it is not UTF-8.';
const TOO_LONG = `Cannot read the message: all of it but the contents of its parts is held in memory, and that is more than ${MAX_ENVELOPE_SIZE} bytes here. Shorten it, or split it into several messages.`;
