/**
 * The HTTP+JSON binding of A2A 1.0 (PROTOCOL.md section 19.2).
 * Imported with the SDK when the first request of this binding arrives.
 */
import { SendMessageRequest, SendMessageResponse, StreamResponse, Task } from '@a2a-js/sdk';
import { validateVersion } from '@a2a-js/sdk/server';
import { GatewayError, quoted, REST_PATH } from '@open-presence/protocol';

import { abortOnDisconnect } from '../../http/context.ts';
import { RETRY_AFTER } from '../../http/response/problem.ts';
import { toJsonObject } from '../../json/json-object.ts';
import { RawJson } from '../../json/raw-json.ts';
import type { DoorRequest } from '../context.ts';
import { A2A_TYPE } from './agent-card.ts';
import { restError, toA2aError } from './errors.ts';
import { parseRequest, requestedVersion, type ReceivedRequest } from './received-request.ts';
import { RequestHandler } from './request-handler.ts';
import { streamEvents } from '../stream-events.ts';
import { isStream, sendText } from './responses.ts';
import { assertMessage } from './messages/validate-message.ts';

const VERSION = '1.0';

/** What a path of this binding stands for. */
export type RestResource = 'send' | 'stream' | 'list' | 'task' | 'unknown';

export async function handleRest(
  context: DoorRequest,
  resource: RestResource,
  received: ReceivedRequest,
): Promise<void> {
  const rawJson = new RawJson();
  using caller = abortOnDisconnect(context);
  const { signal } = caller;
  try {
    const bytes = await received.bytes();
    const source = { bytes, path: ['message'], large: received.large };
    const handler = new RequestHandler({ context, ...source, rawJson, signal });
    const version = requestedVersion(context) ?? VERSION;
    validateVersion(version, await handler.getAgentCard(), 'HTTP+JSON');
    const result = await call(handler, resource, { context, bytes });
    if (!isStream(result)) {
      return await sendText(context, { text: rawJson.stringifyLast(result), type: A2A_TYPE });
    }
    const format = {
      event: (value: unknown) => `data: ${rawJson.stringifyLast(value)}`,
      error: (thrown: unknown) =>
        `event: error\ndata: ${JSON.stringify(restError(toA2aError(context, thrown)).body)}`,
    };
    await streamEvents(context, result, format, () => received.streamStarted());
  } catch (thrown) {
    const { status, body, isTransient } = restError(toA2aError(context, thrown));
    const headers = isTransient ? { 'Retry-After': RETRY_AFTER } : undefined;
    await sendText(context, { text: JSON.stringify(body), type: A2A_TYPE, status, headers });
  }
}

/** The response, or the events of a stream. */
async function call(
  handler: RequestHandler,
  resource: RestResource,
  { context, bytes }: { readonly context: DoorRequest; readonly bytes: Buffer },
): Promise<object> {
  switch (resource) {
    case 'send':
      return await sendMessage(handler, sendRequestIn(bytes));
    case 'stream':
      return eventsAsJson(handler.sendMessageStream(sendRequestIn(bytes)));
    case 'list':
      return await handler.listTasks();
    case 'task':
      return await callTask(handler, context);
    case 'unknown':
      return await callUnknown(handler, context);
  }
}

async function sendMessage(handler: RequestHandler, request: SendMessageRequest): Promise<object> {
  const value = await handler.sendMessage(request);
  const payload =
    'messageId' in value
      ? ({ $case: 'message', value } as const)
      : ({ $case: 'task', value } as const);
  return toJsonObject(SendMessageResponse.toJSON({ payload }));
}

/** `/tasks/{id}`, `/tasks/{id}:subscribe` and `/tasks/{id}:cancel`. */
async function callTask(handler: RequestHandler, { params }: DoorRequest): Promise<object> {
  const [, id = '', verb] = /^(.*?)(?::(subscribe|cancel))?$/s.exec(params['id'] ?? '') ?? [];
  if (verb === 'subscribe') return eventsAsJson(handler.resubscribe({ id, tenant: '' }));
  const request = { id, tenant: '', metadata: undefined };
  const task = await (verb === 'cancel' ? handler.cancelTask(request) : handler.getTask(request));
  return toJsonObject(Task.toJSON(task));
}

const PATHS = [
  'message:send',
  'message:stream',
  'tasks',
  'tasks/{id}',
  'tasks/{id}:subscribe',
  'tasks/{id}:cancel',
].map((path) => `${REST_PATH}/${path}`);

/** Rejects resources of A2A that the gateway does not offer, and paths that A2A does not have. */
async function callUnknown(handler: RequestHandler, { request }: DoorRequest): Promise<never> {
  const { url = '' } = request;
  const [path = ''] = url.slice(REST_PATH.length).split(/[?#]/, 1);
  if (/^\/tasks\/[^/]+\/pushNotificationConfigs(?:\/|$)/.test(path)) {
    return await handler.createTaskPushNotificationConfig();
  }
  if (/^\/extendedAgentCard\/?$/.test(path)) {
    return await handler.getAuthenticatedExtendedAgentCard();
  }
  const detail = `Cannot find ${quoted(url)}: there is no such path. The paths are ${PATHS.join(', ')}.`;
  throw new GatewayError('not-found', detail, { known: PATHS });
}

async function* eventsAsJson(
  events: AsyncGenerator<StreamResponse, void, undefined>,
): AsyncGenerator<unknown, void, undefined> {
  for await (const event of events) yield StreamResponse.toJSON(event);
}

function sendRequestIn(bytes: Buffer): SendMessageRequest {
  const request = parseRequest(bytes, EXAMPLE);
  assertMessage(request);
  return SendMessageRequest.fromJSON(request);
}

const EXAMPLE = '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"…"}]}}';
