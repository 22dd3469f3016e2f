/** The JSON-RPC binding of A2A 1.0 (PROTOCOL.md section 19.2). Imported with the SDK when the first call arrives. */
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  validateVersion,
} from '@a2a-js/sdk/server';
import {
  AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '@a2a-js/sdk';

import { abortOnDisconnect, isDisconnected } from '../../http/context.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import { JSON_TYPE, NO_STORE, vary } from '../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { toJsonObject } from '../../json/json-object.ts';
import { localizationFor, type DoorRequest } from '../context.ts';
import { streamEvents } from '../stream-events.ts';
import { cardOf } from './agent-card.ts';
import { toA2aError } from './errors.ts';
import { createTask, findTask, followTask } from './follow-task.ts';
import { receivedMessage, type ReceivedMessage } from './message.ts';
import { agentMessage } from './parts.ts';
import { answerReading, readingRequestIn } from './read.ts';
import { storeMessage } from './store-message.ts';

const VERSION = '1.0';
const METHOD_NOT_FOUND = -32_601;
const NO_METHOD =
  'Cannot call the method: there is none of this name. A2A 1.0 has SendMessage, SendStreamingMessage, GetTask and SubscribeToTask.';

export async function handleJsonRpc(
  context: DoorRequest,
  message: unknown,
  changed: Set<string>,
): Promise<void> {
  const call = toJsonObject(message);
  const { id = null } = call;
  const errorOf = (thrown: unknown): object => ({
    jsonrpc: '2.0',
    id,
    error: JsonRpcTransportHandler.mapToJSONRPCError(toA2aError(context, thrown)),
  });
  using caller = abortOnDisconnect(context);
  const handler = new RequestHandler({ context, changed, signal: caller.signal });
  let result: object;
  try {
    const requestedVersion = versionIn(context);
    validateVersion(requestedVersion, await handler.getAgentCard(), 'JSONRPC');
    const transport = new JsonRpcTransportHandler(handler);
    result = await transport.handle({ ...call }, new ServerCallContext({ requestedVersion }));
    const { code } = toJsonObject(toJsonObject(result)['error']);
    if (code === METHOD_NOT_FOUND)
      result = { jsonrpc: '2.0', id, error: { code, message: NO_METHOD } };
    if (isStream(result)) {
      const format = {
        event: (value: unknown) => `data: ${JSON.stringify(value)}`,
        error: (thrown: unknown) => `data: ${JSON.stringify(errorOf(thrown))}`,
      };
      return await streamEvents(context, result, format);
    }
  } catch (thrown) {
    result = errorOf(thrown);
  }
  if (isDisconnected(context)) return;
  const headers = { ...NO_STORE, ...vary() };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body: jsonBody(result) });
}

function isStream(result: object): result is AsyncIterable<unknown> {
  return Symbol.asyncIterator in result;
}

/** By a header or a query parameter, without its patch version (A2A section 3.6). */
function versionIn({ request }: DoorRequest): string {
  const header = request.headers['a2a-version'];
  const value = typeof header === 'string' ? header : queryOf(request).get('A2A-Version');
  return (value?.trim() || VERSION).replace(/^(\d+\.\d+)\.\d+$/, '$1');
}

interface A2aRequest {
  readonly context: DoorRequest;
  /** Members of the message whose numbers were not kept. */
  readonly changed: Set<string>;
  /** Aborted when the caller leaves or the gateway stops. */
  readonly signal: AbortSignal;
}

/** Handles the requests of one HTTP request, for the SDK's transport. */
class RequestHandler implements A2ARequestHandler {
  readonly #request: A2aRequest;

  readonly createTaskPushNotificationConfig = rejectPush;
  readonly getTaskPushNotificationConfig = rejectPush;
  readonly listTaskPushNotificationConfigs = rejectPush;
  readonly deleteTaskPushNotificationConfig = rejectPush;

  constructor(request: A2aRequest) {
    this.#request = request;
  }

  async getAgentCard(): Promise<AgentCard> {
    const { context } = this.#request;
    return AgentCard.fromJSON(cardOf(localizationFor(context), publicAddressOf(context)));
  }

  async sendMessage(params: SendMessageRequest): Promise<Message | Task> {
    return await this.#withA2aErrors(async () => {
      const { context } = this.#request;
      const received = await this.#receive(params);
      const { contextId } = received.message;
      const reading = readingRequestIn(received);
      if (reading === undefined) return await storeMessage(context, received);
      const { skill, fields } = reading;
      if (skill === 'follow') return await createTask(context, fields, contextId);
      return agentMessage(await answerReading(this.#request, skill, fields), contextId);
    });
  }

  async #receive(params: SendMessageRequest): Promise<ReceivedMessage> {
    const { message, metadata, configuration } = params;
    // The SDK takes parts of the wrong form for none.
    if (message === undefined || message.parts.length === 0)
      throw new RequestMalformedError(NO_MESSAGE);
    // Whoever asks to be called back would wait for it.
    if (configuration?.taskPushNotificationConfig !== undefined) return await rejectPush();
    const { context, changed } = this.#request;
    if (message.taskId !== '') await findTask(context, message.taskId);
    return receivedMessage(message, metadata, changed);
  }

  async *sendMessageStream(
    params: SendMessageRequest,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const value = await this.sendMessage(params);
    if ('messageId' in value) yield { payload: { $case: 'message', value } };
    else yield* this.resubscribe({ id: value.id, tenant: '' });
  }

  async getTask({ id }: GetTaskRequest): Promise<Task> {
    return await this.#withA2aErrors(() => findTask(this.#request.context, id));
  }

  /** A task without a reader costs nothing, so there is nothing to cancel. */
  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    await this.getTask({ id, tenant: '' });
    throw new TaskNotCancelableError(NOT_CANCELABLE);
  }

  /** Empty: tasks are not stored. */
  async listTasks(): Promise<ListTasksResponse> {
    return { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  }

  async *resubscribe({
    id,
  }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { context } = this.#request;
    try {
      yield* followTask(context, await findTask(context, id), this.#request);
    } catch (error) {
      throw toA2aError(context, error);
    }
  }

  async getAuthenticatedExtendedAgentCard(): Promise<never> {
    throw new UnsupportedOperationError(NO_EXTENDED_CARD);
  }

  async #withA2aErrors<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      throw toA2aError(this.#request.context, error);
    }
  }
}

async function rejectPush(): Promise<never> {
  throw new PushNotificationNotSupportedError(NO_PUSH);
}

const NOT_CANCELABLE = 'Cannot cancel the task: it ends when its reader leaves.';
const NO_MESSAGE =
  'Cannot read the message: it needs "parts", as in {"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"…"}]}}.';
const NO_EXTENDED_CARD =
  'Cannot answer an extended agent card: the agent card has everything, for everybody.';
const NO_PUSH =
  'Cannot push: there are no push notifications. Stream a message with {"data":{"skill":"follow"}} instead, or poll with {"data":{"skill":"read","after":…}}.';
