/** How both bindings of A2A receive a request: whole, since the SDK takes parsed values. */
import { isUtf8 } from 'node:buffer';

import { GatewayError } from '@open-presence/protocol';

import { queryOf } from '../../http/context.ts';
import { receiveMessage } from '../../http/request/large-message-queue.ts';
import { hasMoreValues } from '../../json/limits.ts';
import type { DoorRequest } from '../context.ts';

export interface ReceivedRequest {
  /** Throws for a body that is too large or not UTF-8. */
  bytes(): Promise<Buffer>;
  /** To be called when a stream starts, which may never end: lets the next large request start. */
  streamStarted(): void;
}

/** V8 aborts the process when it prints a string of 2 ** 28 characters. */
const MAX_SIZE = 2 ** 28 - 1;
/** More values than this might exhaust the memory once they are parsed. */
const MAX_VALUES = 1_000_000;

export function receiveRequest(
  context: DoorRequest,
  handle: (received: ReceivedRequest) => Promise<void>,
): void {
  receiveMessage(context, {
    maxSize: MAX_SIZE,
    handle: (body, streamStarted) => handle({ bytes: () => checkedBody(body), streamStarted }),
    refuse(undecodable = new GatewayError('malformed-json', TOO_LARGE)) {
      return handle({ bytes: () => Promise.reject(undecodable), streamStarted() {} });
    },
  });
}

async function checkedBody(body: Buffer): Promise<Buffer> {
  if (await hasMoreValues(body, MAX_VALUES)) throw new GatewayError('malformed-json', TOO_MANY);
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
const ELSEWHERE = 'Use POST /api/garden (or another kind) instead, which accepts any length.';
const TOO_LARGE = `Cannot read the message: A2A messages are held in memory whole, and this one has more than ${MAX_SIZE} bytes. ${ELSEWHERE}`;
const TOO_MANY = `Cannot read the message: A2A messages are held in memory whole, and this one has more than ${MAX_VALUES} values. Split it into several messages, or: ${ELSEWHERE}`;
