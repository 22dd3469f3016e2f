/**
 * The bindings of A2A (PROTOCOL.md section 19.2): JSON-RPC, of versions 1.0 and 0.3, and HTTP+JSON.
 * Loaded with the SDK, by the first request that speaks A2A.
 */
import { SendMessageRequest, SendMessageResponse, StreamResponse, Task } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';

import { answer, COMMON, JSON_TYPE, NOT_KEPT, vary, type Headers } from '../http/answer.ts';
import { isGone, queryOf, type Exchange } from '../http/exchange.ts';
import { sliceOf } from '../http/frames.ts';
import { RETRY_AFTER } from '../http/problem.ts';
import type { Verb } from './a2a.ts';
import { Conversation } from './conversation.ts';
import { asA2a, restError } from './errors.ts';
import { Verbatim } from './verbatim.ts';

const OLD = '0.3';
const REST_TYPE = 'application/a2a+json';
const STREAM_HEADERS: Headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
  ...NOT_KEPT,
  ...vary(),
  ...COMMON,
};

export async function answerJsonRpc(exchange: Exchange, text: string): Promise<void> {
  const verbatim = new Verbatim();
  using listening = listen(exchange);
  const { signal } = listening;
  const conversation = new Conversation({
    exchange,
    text,
    path: ['params', 'message'],
    verbatim,
    signal,
  });
  const read = parsed(text);
  if (read === undefined) {
    await give(exchange, verbatim.print(PARSE_ERROR), JSON_TYPE);
    return;
  }
  // Methods of 0.3 have a slash in their names: whoever forgets to say the version is understood.
  const isOld = typeof read['method'] === 'string' && read['method'].includes('/');
  const handler = isOld
    ? new LegacyJsonRpcTransportHandler(conversation)
    : new JsonRpcTransportHandler(conversation);
  const context = new ServerCallContext({ requestedVersion: isOld ? OLD : versionOf(exchange) });
  const id = idOf(read);
  const failed = (thrown: unknown): object => {
    const error = asA2a(exchange, thrown);
    const mapped = isOld
      ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
      : JsonRpcTransportHandler.mapToJSONRPCError(error);
    return { jsonrpc: '2.0', id, error: mapped };
  };
  try {
    validateVersion(context.requestedVersion, await conversation.getAgentCard(), 'JSONRPC');
    const told = await handler.handle(read, context);
    if (Symbol.asyncIterator in told)
      await stream(exchange, told, { verbatim, failed, type: JSON_TYPE });
    else await give(exchange, verbatim.print(told), JSON_TYPE);
  } catch (error) {
    await give(exchange, verbatim.print(failed(error)), JSON_TYPE);
  }
}

const PARSE_ERROR = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_700, message: 'Cannot read the message: it is not a JSON object.' },
};

export async function answerRest(exchange: Exchange, verb: Verb, text: string): Promise<void> {
  const verbatim = new Verbatim();
  using listening = listen(exchange);
  const { signal } = listening;
  const conversation = new Conversation({ exchange, text, path: ['message'], verbatim, signal });
  const failed = (error: unknown): object => restError(asA2a(exchange, error)).body;
  try {
    validateVersion(versionOf(exchange), await conversation.getAgentCard(), 'HTTP+JSON');
    const events = await eventsOf(conversation, verb, { exchange, text });
    if (Symbol.asyncIterator in events) {
      await stream(exchange, events, { verbatim, failed, type: REST_TYPE });
    } else await give(exchange, verbatim.print(events), REST_TYPE);
  } catch (error) {
    const { status, body, passes } = restError(asA2a(exchange, error));
    const more: Headers = passes ? { 'Retry-After': RETRY_AFTER } : {};
    await give(exchange, verbatim.print(body), REST_TYPE, { status, more });
  }
}

/** The answer, or those that follow one another. */
async function eventsOf(
  conversation: Conversation,
  verb: Verb,
  { exchange, text }: { readonly exchange: Exchange; readonly text: string },
): Promise<object> {
  switch (verb) {
    case 'send': {
      const value = await conversation.sendMessage(requestIn(text));
      const payload =
        'messageId' in value
          ? ({ $case: 'message', value } as const)
          : ({ $case: 'task', value } as const);
      return objectOf(SendMessageResponse.toJSON({ payload }));
    }
    case 'stream':
      return printed(conversation.sendMessageStream(requestIn(text)));
    case 'list':
      return await conversation.listTasks();
    case 'task':
      return await taskEvents(conversation, exchange);
  }
}

/** `/tasks/{id}`, and `/tasks/{id}:subscribe`, `:cancel`. */
async function taskEvents(conversation: Conversation, { params }: Exchange): Promise<object> {
  const [, id = '', verb] = /^(.*?)(?::(subscribe|cancel))?$/s.exec(params['id'] ?? '') ?? [];
  if (verb === 'subscribe') return printed(conversation.resubscribe({ id, tenant: '' }));
  const asked = { id, tenant: '', metadata: undefined };
  const task = await (verb === 'cancel'
    ? conversation.cancelTask(asked)
    : conversation.getTask(asked));
  return objectOf(Task.toJSON(task));
}

async function* printed(
  events: AsyncGenerator<StreamResponse, void, undefined>,
): AsyncGenerator<unknown, void, undefined> {
  for await (const event of events) yield StreamResponse.toJSON(event);
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function requestIn(text: string): SendMessageRequest {
  const read = parsed(text);
  if (read !== undefined) return SendMessageRequest.fromJSON(read);
  throw new RequestMalformedError('Cannot read the message: it is not a JSON object.');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined;
  } catch {
    return undefined;
  }
}

function idOf({ id }: Record<string, unknown>): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Said in a header or a parameter; without a word of it, the newest. */
function versionOf({ request }: Exchange): string {
  const header = request.headers['a2a-version'];
  if (typeof header === 'string' && header !== '') return header;
  return queryOf(request).get('A2A-Version') ?? '1.0';
}

interface Giving {
  readonly status: number;
  readonly more: Headers;
}

async function give(
  exchange: Exchange,
  text: string,
  type: string,
  { status, more }: Giving = { status: 200, more: {} },
): Promise<void> {
  if (isGone(exchange)) return;
  const headers = { ...NOT_KEPT, ...vary(), ...more };
  await answer(exchange, { status, type, headers, body: Buffer.from(text) });
}

interface Streaming {
  readonly verbatim: Verbatim;
  readonly failed: (error: unknown) => object;
  readonly type: string;
}

/** The first event tells whether there is a stream: until then an error is an answer like others. */
async function stream(
  exchange: Exchange,
  events: AsyncGenerator<unknown, void, undefined> | object,
  { verbatim, failed }: Streaming,
): Promise<void> {
  const { house, request, response } = exchange;
  if (!isStream(events)) return;
  const reading = events[Symbol.asyncIterator]();
  try {
    let step = await reading.next();
    if (isGone(exchange)) return;
    response.writeHead(200, STREAM_HEADERS);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.flushHeaders();
    const out = house.streams.add(response);
    try {
      for (; step.done !== true; step = await reading.next()) {
        await out.drained();
        if (out.ended.aborted) return;
        out.write(framed(verbatim.print(step.value)));
      }
    } catch (error) {
      out.write(framed(verbatim.print(failed(error))));
    }
    await out.drained();
    if (!out.ended.aborted) out.end();
  } finally {
    await reading.return?.();
  }
}

function isStream(events: object): events is AsyncIterable<unknown> {
  return Symbol.asyncIterator in events;
}

function framed(text: string): ReturnType<typeof sliceOf> {
  // It ends with a whole event, so that a comment may follow.
  return sliceOf(Buffer.from(`data: ${text}\n\n`), 0);
}

/** Ends when the caller leaves, or the gateway rests. */
function listen({ house, response }: Exchange): Disposable & { readonly signal: AbortSignal } {
  const gone = new AbortController();
  const end = (): void => gone.abort();
  response.once('close', end);
  house.streams.resting.addEventListener('abort', end);
  if (response.destroyed || house.streams.resting.aborted) end();
  return {
    signal: gone.signal,
    [Symbol.dispose]() {
      response.off('close', end);
      house.streams.resting.removeEventListener('abort', end);
    },
  };
}
