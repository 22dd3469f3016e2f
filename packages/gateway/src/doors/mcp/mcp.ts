/**
 * The MCP door (PROTOCOL.md section 18): the same house for AI systems that speak the Model Context
 * Protocol, by Streamable HTTP, without sessions.
 *
 * Owns the way from an HTTP request to the SDK and back; the SDK owns the protocol, the tools beside
 * this file what is said in it. Upholds:
 * - the SDK is not loaded before somebody speaks MCP.
 * - no message ends the process, and what a visitor says is kept letter by letter.
 * - whoever does not read a subscription holds at most one notification for each thing it follows.
 */
import { GatewayError } from '@open-presence/protocol';

import { answer, json, JSON_TYPE, NOT_KEPT } from '../http/answer.ts';
import { drain, readBody } from '../http/body.ts';
import { isGone, type Exchange, type House } from '../http/exchange.ts';
import { inTurn } from '../http/held.ts';
import { fault, problem } from '../http/problem.ts';
import { formOf } from '../http/accept.ts';
import { card } from './card.ts';
import type { Call, Serving } from './serving.ts';
import { LONGEST, messageIn, TOO_LONG, type Misshapen } from './shape.ts';

/** What a browser or a curious caller gets: the server card. Streams of `GET` there are none. */
export async function aboutMcp(exchange: Exchange): Promise<void> {
  if (formOf(exchange.request.headers.accept) === 'events') {
    const headers = { Allow: 'POST, OPTIONS' };
    await problem(exchange, new GatewayError('method-not-allowed', NO_STREAM), { headers });
    return;
  }
  await card(exchange, {});
}

const NO_STREAM =
  'Cannot open a stream at /mcp by GET: there are no sessions here. POST "subscriptions/listen" (2026-07-28) to hear of news, or call the tool wait_for_news.';

/** A door that speaks MCP; `begin` is asked once for each log, by the first message. */
export function mcpBy(begin: (house: House) => Promise<Serving>): (exchange: Exchange) => void {
  const servings = new WeakMap<House['log'], Promise<Serving>>();
  const servingOf = (house: House): Promise<Serving> => {
    const serving = servings.get(house.log) ?? begin(house);
    servings.set(house.log, serving);
    return serving;
  };
  return (exchange) => {
    const failed = (error: unknown): void => fault(exchange, error);
    readBody(exchange.request, LONGEST, {
      whole(bytes) {
        inTurn(bytes, (begun) => take({ exchange, bytes, begun }, servingOf)).catch(failed);
      },
      large() {
        const told = refuse(exchange, 400, TOO_LONG).catch(failed);
        void told.then(() => drain(exchange.request));
      },
    });
  };
}

export const mcp: (exchange: Exchange) => void = mcpBy(async (house) => {
  const { Serving } = await import('./serving.ts');
  return new Serving(house);
});

async function take(
  said: Omit<Call, 'message'>,
  servingOf: (house: House) => Promise<Serving>,
): Promise<void> {
  const { exchange, bytes } = said;
  const { house, request } = exchange;
  if (isGone(exchange)) return;
  const stranger = house.loopback ? strangerIn(exchange) : undefined;
  if (stranger !== undefined) {
    await refuse(exchange, 403, { code: -32_000, message: stranger, id: null });
    return;
  }
  const read = messageIn(bytes);
  if ('refusal' in read) {
    await refuse(exchange, 400, read.refusal);
    return;
  }
  request.resume();
  const serving = await servingOf(house);
  await serving.serve({ ...said, message: read.message });
}

async function refuse(exchange: Exchange, status: number, refusal: Misshapen): Promise<void> {
  const { id, code, message } = refusal;
  const body = json({ jsonrpc: '2.0', id, error: { code, message } });
  await answer(exchange, { status, type: JSON_TYPE, headers: NOT_KEPT, body });
}

/**
 * Why a page may not speak for the one who has it open: where only this machine can reach the door,
 * a page of elsewhere must not either, by whatever name it resolved the address. Who sends no
 * `Origin` is no page.
 */
function strangerIn({ house, request }: Exchange): string | undefined {
  const { origin, host } = request.headers;
  if (origin === undefined) return undefined;
  const own = house.publicUrl === undefined ? undefined : hostOf(house.publicUrl);
  const known = (url: string): boolean => {
    const name = hostOf(url);
    return LOCAL.test(name) || name === own;
  };
  if (!known(origin)) return foreign('Origin', origin);
  if (!known(`http://${host}`)) return foreign('Host', host ?? '');
  return undefined;
}

const LOCAL = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

function foreign(header: string, value: string): string {
  return `Cannot speak MCP with a page of elsewhere: ${header} ${JSON.stringify(value.slice(0, 100))} is not of this machine, where this gateway listens alone. Programs send no Origin; pages of elsewhere use /api, or a gateway that is told its public address.`;
}
