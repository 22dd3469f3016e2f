/**
 * The A2A door (PROTOCOL.md section 19): the same house for agents that speak Agent2Agent.
 *
 * Owns the way from an HTTP request to the SDK and back. Upholds:
 * - the SDK is not loaded before somebody speaks A2A; the card needs none of it.
 * - nothing is kept between two requests: a task's id says all that the task is.
 * - what a visitor says in data is kept letter by letter, and told so.
 * - no message takes more memory than there is, whatever is in it.
 */
import { GatewayError } from '@open-presence/protocol';

import { addressOf } from '../http/address.ts';
import { answer, inTongue, json, JSON_TYPE, REVALIDATE } from '../http/answer.ts';
import { drain, readBody } from '../http/body.ts';
import { tongueFor, type Exchange, type Handler } from '../http/exchange.ts';
import { hasMore, inTurn } from '../http/held.ts';
import { editionOf } from '../http/language.ts';
import { fault } from '../http/problem.ts';
import { cardOf, oldCardOf, type CardParts } from './card.ts';

/** Who asks in version 0.3 gets the card of it. */
export const agentCard: Handler = (exchange) => {
  const old = /^0\.3\b/.test(String(exchange.request.headers['a2a-version'] ?? ''));
  return card(exchange, old ? oldCardOf : cardOf);
};
/** As clients of version 0.3 want it. */
export const oldAgentCard: Handler = (exchange) => card(exchange, oldCardOf);

async function card(exchange: Exchange, cardOf: (parts: CardParts) => object): Promise<void> {
  const { house, request } = exchange;
  const tongue = tongueFor(request);
  const body = json(cardOf({ language: house.language, tongue, base: addressOf(exchange) }));
  const headers = { ...REVALIDATE, ...inTongue(tongue, 'A2A-Version') };
  const tag = `W/"${editionOf(body)}"`;
  await answer(exchange, { status: 200, type: JSON_TYPE, headers, body, tag });
}

/** The ways to ask by HTTP+JSON. */
export type Verb = 'send' | 'stream' | 'list' | 'task' | 'elsewhere';

export function jsonRpc(exchange: Exchange): void {
  whole(exchange, async (said) => {
    const { answerJsonRpc } = await import('./json-rpc.ts');
    await answerJsonRpc(exchange, said);
  });
}

export function rest(verb: Verb): Handler {
  return (exchange) => {
    whole(exchange, async (said) => {
      const { answerRest } = await import('./rest.ts');
      await answerRest(exchange, verb, said);
    });
  };
}

/** A message in A2A is one JSON text, held whole. */
export interface Said {
  /** Throws where it cannot be read. */
  text(): string;
  /** To be called when a stream has begun, which may go on for ever. */
  begun(): void;
}

function whole(exchange: Exchange, take: (said: Said) => Promise<void>): void {
  const failed = (error: unknown): void => fault(exchange, error);
  readBody(exchange.request, LONGEST, {
    whole(bytes) {
      const text = (): string => textOf(bytes);
      inTurn(bytes, (begun) => take({ text, begun })).catch(failed);
    },
    large() {
      const told = take({ text: tooLong, begun() {} }).catch(failed);
      void told.then(() => drain(exchange.request));
    },
  });
}

/** Bytes of a message. V8 ends with the process where it prints a string of 2 ** 28 characters. */
const LONGEST = 2 ** 28 - 1;

function tooLong(): never {
  throw new GatewayError('malformed-json', TOO_LONG);
}

/** More values than this might take more memory than there is. */
const MOST_VALUES = 1_000_000;

function textOf(bytes: Buffer): string {
  if (hasMore(bytes, MOST_VALUES)) throw new GatewayError('malformed-json', TOO_MANY);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new GatewayError('malformed-json', NO_UTF8);
  }
}

const NO_UTF8 = 'Cannot read the message: it is not UTF-8.';
const ELSEWHERE = 'Say it by POST to /api/garden (or another kind), which takes any length.';
const TOO_LONG = `Cannot read the message: A2A messages are held in memory whole, and this one has more than ${LONGEST} bytes. ${ELSEWHERE}`;
const TOO_MANY = `Cannot read the message: A2A messages are held in memory whole, and this one has more than ${MOST_VALUES} values. Send it in several, or: ${ELSEWHERE}`;
