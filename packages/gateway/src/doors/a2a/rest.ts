/**
 * The binding HTTP+JSON of A2A 1.0 (PROTOCOL.md section 19.2).
 * Loaded with the SDK, by the first request that speaks it.
 */
import { SendMessageRequest, SendMessageResponse, StreamResponse, Task } from '@a2a-js/sdk';
import { validateVersion } from '@a2a-js/sdk/server';
import { GatewayError, quoted, REST_PATH } from '@open-presence/protocol';

import type { Headers } from '../../http/headers.ts';
import { abortOnDisconnect } from '../../http/context.ts';
import type { DoorRequest } from '../context.ts';
import { RETRY_AFTER } from '../../http/problem.ts';
import { RawJson } from '../../json/raw-json.ts';
import type { Said, Verb } from './a2a.ts';
import { Conversation } from './conversation.ts';
import { asA2a, restError } from './errors.ts';
import { give, isStream, parsed, stream, versionOf } from './giving.ts';
import { assertMessage } from './message.ts';

const VERSION = '1.0';
const TYPE = 'application/a2a+json';

export async function answerRest(context: DoorRequest, verb: Verb, said: Said): Promise<void> {
  const verbatim = new RawJson();
  using listening = abortOnDisconnect(context);
  const { signal } = listening;
  try {
    const bytes = await said.bytes();
    const conversation = new Conversation({ context, bytes, path: ['message'], verbatim, signal });
    const version = versionOf(context) ?? VERSION;
    validateVersion(version, await conversation.getAgentCard(), 'HTTP+JSON');
    const events = await eventsOf(conversation, verb, { context, bytes });
    if (isStream(events)) {
      await stream(context, events, {
        event: (value) => `data: ${verbatim.stringifyLast(value)}`,
        error: (thrown) =>
          `event: error\ndata: ${JSON.stringify(restError(asA2a(context, thrown)).body)}`,
        begun: () => said.begun(),
      });
    } else await give(context, verbatim.stringifyLast(events), TYPE);
  } catch (error) {
    const { status, body, passes } = restError(asA2a(context, error));
    const more: Headers = passes ? { 'Retry-After': RETRY_AFTER } : {};
    await give(context, JSON.stringify(body), TYPE, { status, more });
  }
}

/** The answer, or those that follow one another. */
async function eventsOf(
  conversation: Conversation,
  verb: Verb,
  { context, bytes }: { readonly context: DoorRequest; readonly bytes: Buffer },
): Promise<object> {
  switch (verb) {
    case 'send': {
      const value = await conversation.sendMessage(requestIn(bytes));
      const payload =
        'messageId' in value
          ? ({ $case: 'message', value } as const)
          : ({ $case: 'task', value } as const);
      return objectOf(SendMessageResponse.toJSON({ payload }));
    }
    case 'stream':
      return printed(conversation.sendMessageStream(requestIn(bytes)));
    case 'list':
      return await conversation.listTasks();
    case 'task':
      return await taskEvents(conversation, context);
    case 'elsewhere':
      return await elsewhere(conversation, context);
  }
}

/** `/tasks/{id}`, and `/tasks/{id}:subscribe`, `:cancel`. */
async function taskEvents(conversation: Conversation, { params }: DoorRequest): Promise<object> {
  const [, id = '', verb] = /^(.*?)(?::(subscribe|cancel))?$/s.exec(params['id'] ?? '') ?? [];
  if (verb === 'subscribe') return printed(conversation.resubscribe({ id, tenant: '' }));
  const asked = { id, tenant: '', metadata: undefined };
  const task = await (verb === 'cancel'
    ? conversation.cancelTask(asked)
    : conversation.getTask(asked));
  return objectOf(Task.toJSON(task));
}

const PATHS = [
  'message:send',
  'message:stream',
  'tasks',
  'tasks/{id}',
  'tasks/{id}:subscribe',
  'tasks/{id}:cancel',
].map((path) => `${REST_PATH}/${path}`);

/** What A2A has and this gateway has not, and what A2A has not either. */
async function elsewhere(conversation: Conversation, { request }: DoorRequest): Promise<never> {
  const { url = '' } = request;
  const [path = ''] = url.slice(REST_PATH.length).split(/[?#]/, 1);
  if (/^\/tasks\/[^/]+\/pushNotificationConfigs(?:\/|$)/.test(path)) {
    return await conversation.createTaskPushNotificationConfig();
  }
  if (/^\/extendedAgentCard\/?$/.test(path)) {
    return await conversation.getAuthenticatedExtendedAgentCard();
  }
  const detail = `Cannot find ${quoted(url)}: there is no such path. The paths are ${PATHS.join(', ')}.`;
  throw new GatewayError('not-found', detail, { known: PATHS });
}

async function* printed(
  events: AsyncGenerator<StreamResponse, void, undefined>,
): AsyncGenerator<unknown, void, undefined> {
  for await (const event of events) yield StreamResponse.toJSON(event);
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function requestIn(bytes: Buffer): SendMessageRequest {
  const read = parsed(bytes, EXAMPLE);
  assertMessage(read);
  return SendMessageRequest.fromJSON(read);
}

const EXAMPLE = '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"…"}]}}';
