/**
 * The A2A door (PROTOCOL.md section 19): the same app for agents that speak Agent2Agent.
 *
 * Owns the way from an HTTP request to the SDK and back. Upholds:
 * - the SDK is not loaded before somebody speaks A2A; the card needs none of it.
 * - nothing is kept between two requests: a task's id says all that the task is.
 * - what a visitor says in data is kept letter by letter, and told so.
 * - no message takes more memory than there is, whatever is in it.
 */
import { isUtf8 } from 'node:buffer';

import { GatewayError, JSON_RPC_PATH, REST_PATH } from '@open-presence/protocol';

import { publicAddressOf } from '../../http/public-address.ts';
import { sendResponse, contentHash, jsonBody } from '../../http/response.ts';
import { contentLanguage, JSON_TYPE, NO_CACHE } from '../../http/headers.ts';
import { discardBody, readBody } from '../../http/request-body.ts';
import { localeFor } from '../../http/context.ts';
import type { DoorHandler, DoorRequest, ProtocolDoor } from '../context.ts';
import { runInTurn } from '../../http/large-message-queue.ts';
import { hasMoreValues } from '../../json/limits.ts';
import { sendError } from '../../http/problem.ts';
import { cardOf, oldCardOf, type CardParts } from './card.ts';

export const a2aDoor: ProtocolDoor = {
  routes: [
    { path: '/.well-known/agent-card.json', get: agentCard },
    { path: '/.well-known/agent.json', get: oldAgentCard },
    { path: JSON_RPC_PATH, get: agentCard, post: jsonRpc },
    { path: `${REST_PATH}/message:send`, get: agentCard, post: rest('send') },
    { path: `${REST_PATH}/message:stream`, get: agentCard, post: rest('stream') },
    { path: `${REST_PATH}/tasks`, get: rest('list') },
    { path: `${REST_PATH}/tasks/{id}`, get: rest('task'), post: rest('task') },
  ],
  notFound: { prefix: `${REST_PATH}/`, handle: rest('elsewhere') },
};

/** Callers of version 0.3 get the card of that version. */
function agentCard(context: DoorRequest): Promise<void> {
  const old = /^0\.3\b/.test(String(context.request.headers['a2a-version'] ?? ''));
  return card(context, old ? oldCardOf : cardOf);
}
/** As clients of version 0.3 want it. */
function oldAgentCard(context: DoorRequest): Promise<void> {
  return card(context, oldCardOf);
}

async function card(context: DoorRequest, cardOf: (parts: CardParts) => object): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const body = jsonBody(cardOf({ language: app.language, locale, base: publicAddressOf(context) }));
  const headers = { ...NO_CACHE, ...contentLanguage(locale, 'A2A-Version') };
  const tag = `W/"${contentHash(body)}"`;
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body, tag });
}

/** The ways to ask by HTTP+JSON. */
export type Verb = 'send' | 'stream' | 'list' | 'task' | 'elsewhere';

function jsonRpc(context: DoorRequest): void {
  whole(context, async (said) => {
    const { answerJsonRpc } = await import('./json-rpc.ts');
    await answerJsonRpc(context, said);
  });
}

function rest(verb: Verb): DoorHandler {
  return (context) => {
    whole(context, async (said) => {
      const { answerRest } = await import('./rest.ts');
      await answerRest(context, verb, said);
    });
  };
}

/** A message in A2A is one JSON text, held whole. */
export interface Said {
  /** Throws where it cannot be read. */
  bytes(): Promise<Buffer>;
  /** To be called when a stream has begun, which may go on for ever. */
  begun(): void;
}

function whole(context: DoorRequest, take: (said: Said) => Promise<void>): void {
  const failed = (error: unknown): void => sendError(context, error);
  readBody(context.request, LONGEST, {
    onSmall(bytes) {
      const checked = (): Promise<Buffer> => checkedMessage(bytes);
      runInTurn(bytes, (begun) => take({ bytes: checked, begun })).catch(failed);
    },
    onLarge() {
      const told = take({ bytes: tooLong, begun() {} }).catch(failed);
      void told.then(() => discardBody(context.request));
    },
  });
}

/** Bytes of a message. V8 ends with the process where it prints a string of 2 ** 28 characters. */
const LONGEST = 2 ** 28 - 1;

async function tooLong(): Promise<never> {
  throw new GatewayError('malformed-json', TOO_LONG);
}

/** More values than this might take more memory than there is. */
const MOST_VALUES = 1_000_000;

async function checkedMessage(bytes: Buffer): Promise<Buffer> {
  if (await hasMoreValues(bytes, MOST_VALUES)) throw new GatewayError('malformed-json', TOO_MANY);
  if (!isUtf8(bytes)) throw new GatewayError('malformed-json', NO_UTF8);
  return bytes;
}

const NO_UTF8 = 'Cannot read the message: it is not UTF-8.';
const ELSEWHERE = 'Use POST /api/garden (or another kind) instead, which accepts any length.';
const TOO_LONG = `Cannot read the message: A2A messages are held in memory whole, and this one has more than ${LONGEST} bytes. ${ELSEWHERE}`;
const TOO_MANY = `Cannot read the message: A2A messages are held in memory whole, and this one has more than ${MOST_VALUES} values. Split it into several messages, or: ${ELSEWHERE}`;
