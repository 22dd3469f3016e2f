/**
 * The MCP door (PROTOCOL.md section 18): the same app for AI systems that speak the Model Context
 * Protocol, by Streamable HTTP, without sessions.
 *
 * Owns the way from an HTTP request to the SDK and back; the SDK owns the protocol, the tools beside
 * this file what is said in it. Upholds:
 * - the SDK is not loaded before somebody speaks MCP.
 * - no message ends the process, and what a visitor says is kept letter by letter.
 * - whoever does not read a subscription holds at most one notification for each thing it follows.
 */
import { GatewayError } from '@open-presence/protocol';

import { answer, json, JSON_TYPE, NOT_KEPT } from '../../http/answers.ts';
import { drain, readBody } from '../../http/request-body.ts';
import { isGone, type RequestContext, type AppContext } from '../../http/context.ts';
import { inTurn } from '../../http/large-message-queue.ts';
import { fault, problem } from '../../http/problem.ts';
import { formOf } from '../../http/negotiation.ts';
import { card } from './card.ts';
import type { Call, Serving } from './serving.ts';
import { LONGEST, messageIn, TOO_LONG, type Misshapen } from './shape.ts';

/** What a browser or a curious caller gets: the server card. Streams of `GET` there are none. */
export async function aboutMcp(context: RequestContext): Promise<void> {
  if (formOf(context.request.headers.accept) === 'events') {
    const headers = { Allow: 'POST, OPTIONS' };
    await problem(context, new GatewayError('method-not-allowed', NO_STREAM), { headers });
    return;
  }
  await card(context, {});
}

const NO_STREAM =
  'Cannot open a stream at /mcp by GET: there are no sessions here. POST "subscriptions/listen" (2026-07-28) to hear of news, or call the tool wait_for_news.';

/** A door that speaks MCP; `begin` is asked once for each log, by the first message. */
export function mcpBy(
  begin: (app: AppContext) => Promise<Serving>,
): (context: RequestContext) => void {
  const servings = new WeakMap<AppContext['log'], Promise<Serving>>();
  const servingOf = (app: AppContext): Promise<Serving> => {
    const serving = servings.get(app.log) ?? begin(app);
    servings.set(app.log, serving);
    return serving;
  };
  return (context) => {
    const failed = (error: unknown): void => fault(context, error);
    readBody(context.request, LONGEST, {
      whole(bytes) {
        inTurn(bytes, (begun) => take({ context, bytes, begun }, servingOf)).catch(failed);
      },
      large() {
        const told = refuse(context, 400, TOO_LONG).catch(failed);
        void told.then(() => drain(context.request));
      },
    });
  };
}

export const mcp: (context: RequestContext) => void = mcpBy(async (app) => {
  const { Serving } = await import('./serving.ts');
  return new Serving(app);
});

async function take(
  said: Omit<Call, 'message'>,
  servingOf: (app: AppContext) => Promise<Serving>,
): Promise<void> {
  const { context, bytes } = said;
  const { app, request } = context;
  if (isGone(context)) return;
  const stranger = app.loopback ? strangerIn(context) : undefined;
  if (stranger !== undefined) {
    await refuse(context, 403, { code: -32_000, message: stranger, id: null });
    return;
  }
  const read = await messageIn(bytes);
  if ('refusal' in read) {
    await refuse(context, 400, read.refusal);
    return;
  }
  request.resume();
  const serving = await servingOf(app);
  await serving.serve({ ...said, message: read.message });
}

async function refuse(context: RequestContext, status: number, refusal: Misshapen): Promise<void> {
  const { id, code, message } = refusal;
  const body = json({ jsonrpc: '2.0', id, error: { code, message } });
  await answer(context, { status, type: JSON_TYPE, headers: NOT_KEPT, body });
}

/**
 * Why a page may not speak for the one who has it open: where only this machine can reach the door,
 * a page of elsewhere must not either, by whatever name it resolved the address. Who sends no
 * `Origin` is no page.
 */
function strangerIn({ app, request }: RequestContext): string | undefined {
  const { origin, host } = request.headers;
  if (origin === undefined) return undefined;
  const own = app.publicUrl === undefined ? undefined : hostOf(app.publicUrl);
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
