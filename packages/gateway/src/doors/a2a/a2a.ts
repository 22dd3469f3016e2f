/**
 * The A2A door (PROTOCOL.md section 19): the same house for agents that speak Agent2Agent.
 *
 * Owns the way from an HTTP request to the SDK and back. Upholds:
 * - the SDK is not loaded before somebody speaks A2A; the card needs none of it.
 * - nothing is kept between two requests: a task's id says all that the task is.
 * - what a visitor says in data is kept letter by letter, and told so.
 */
import { GatewayError } from '@open-presence/protocol';

import { addressOf } from '../http/address.ts';
import { answer, inTongue, json, JSON_TYPE, REVALIDATE } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { tongueFor, type Exchange, type Handler } from '../http/exchange.ts';
import { editionOf } from '../http/language.ts';
import { fault } from '../http/problem.ts';
import { cardOf, oldCardOf, type CardParts } from './card.ts';

export const agentCard: Handler = (exchange) => card(exchange, cardOf);
/** As clients of version 0.3 want it. */
export const oldAgentCard: Handler = (exchange) => card(exchange, oldCardOf);

async function card(exchange: Exchange, cardOf: (parts: CardParts) => object): Promise<void> {
  const { house, request } = exchange;
  const tongue = tongueFor(request);
  const body = json(cardOf({ language: house.language, tongue, base: addressOf(exchange) }));
  const headers = { ...REVALIDATE, ...inTongue(tongue) };
  const tag = `W/"${editionOf(body)}"`;
  await answer(exchange, { status: 200, type: JSON_TYPE, headers, body, tag });
}

/** The ways to ask by HTTP+JSON. */
export type Verb = 'send' | 'stream' | 'list' | 'task';

export function jsonRpc(exchange: Exchange): void {
  whole(exchange, async (text) => {
    const { answerJsonRpc } = await import('./binding.ts');
    await answerJsonRpc(exchange, text);
  });
}

export function rest(verb: Verb): Handler {
  return (exchange) => {
    whole(exchange, async (text) => {
      const { answerRest } = await import('./binding.ts');
      await answerRest(exchange, verb, text);
    });
  };
}

/** A message in A2A is one JSON text, held whole. */
function whole(exchange: Exchange, take: (text: string) => Promise<void>): void {
  readBody(exchange.request, Number.MAX_SAFE_INTEGER, {
    whole(bytes) {
      const taken = async (): Promise<void> => {
        await take(textOf(bytes));
      };
      taken().catch((error: unknown) => fault(exchange, error));
    },
    // Never: nothing is larger than that.
    large() {},
  });
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (bytes.length < LONGEST_TEXT) throw new GatewayError('malformed-json', NO_UTF8);
    throw error instanceof Error ? new GatewayError('malformed-json', TOO_LONG) : error;
  }
}

/** What one string of V8 can hold. */
const LONGEST_TEXT = 536_870_888;
const NO_UTF8 = 'Cannot read the message: it is not UTF-8.';
const TOO_LONG =
  'Cannot read the message: A2A messages are held in memory whole, and this one is longer than a string can be. Say it by POST to /api/garden (or another kind), which takes any length.';
