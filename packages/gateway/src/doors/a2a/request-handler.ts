/** One request of an agent, in the SDK's own terms. */
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import {
  AgentCard,
  type CancelTaskRequest,
  type GetExtendedAgentCardRequest,
  type GetTaskRequest,
  type ListTasksResponse,
  type Message,
  type Part,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '@a2a-js/sdk';

import { publicAddressOf } from '../../http/public-address.ts';
import { localeFor } from '../../http/context.ts';
import type { DoorRequest } from '../context.ts';
import { cardOf } from './agent-card.ts';
import { toA2aError } from './errors.ts';
import { asWords, dataInWords } from './parts.ts';
import {
  followed,
  following,
  needsId,
  questionIn,
  read,
  taskAt,
  type Question,
} from './reading.ts';
import { keep, type Heard } from './saying.ts';
import { rawValue, rawValueOfEach, type RawJson } from '../../json/raw-json.ts';

export interface Asked {
  readonly context: DoorRequest;
  /** The request as it came. */
  readonly bytes: Buffer;
  /** Where in it the message is. */
  readonly path: readonly string[];
  readonly rawJson: RawJson;
  /** Aborted when nobody listens any more, or the gateway rests. */
  readonly signal: AbortSignal;
}

export class RequestHandler implements A2ARequestHandler {
  readonly #asked: Asked;
  #called = false;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  /** Whether the SDK could read what was asked. */
  get called(): boolean {
    return this.#called;
  }

  async getAgentCard(): Promise<AgentCard> {
    const { context } = this.#asked;
    const { language } = context.app;
    const parts = { language, locale: localeFor(context.request), base: publicAddressOf(context) };
    return AgentCard.fromJSON(cardOf(parts));
  }

  async sendMessage(params: SendMessageRequest): Promise<Message | Task> {
    this.#called = true;
    const { context } = this.#asked;
    return await inTheirForm(context, async () => {
      const said = await this.#heard(params);
      const question = questionIn(said);
      if (question?.skill === 'follow') return followed(context, question, said.message.contextId);
      const told = await this.#told(said, question);
      return { ...told, parts: this.#worded(params, told.parts) };
    });
  }

  async #told(said: Heard, question: Question | undefined): Promise<Message> {
    const { context, rawJson } = this.#asked;
    if (question === undefined) return await keep(context, said, rawJson);
    return await read(context, { ...question, message: said.message }, rawJson);
  }

  /** For who takes words alone, data are told as words. */
  #worded({ configuration }: SendMessageRequest, parts: Part[]): Part[] {
    const modes = configuration?.acceptedOutputModes ?? [];
    const takesData = modes.length === 0 || modes.some((mode) => /json|\*/.test(mode));
    return takesData ? parts : parts.map((part) => asWords(part, this.#asked.rawJson));
  }

  async *sendMessageStream(
    params: SendMessageRequest,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const value = await this.sendMessage(params);
    if ('messageId' in value) {
      yield { payload: { $case: 'message', value } };
      return;
    }
    for await (const event of this.resubscribe({ id: value.id, tenant: '' })) {
      const { artifact } = event.payload?.$case === 'artifactUpdate' ? event.payload.value : {};
      if (artifact !== undefined) artifact.parts = this.#worded(params, artifact.parts);
      yield event;
    }
  }

  async getTask({ id }: GetTaskRequest): Promise<Task> {
    this.#called = true;
    const { context } = this.#asked;
    return await inTheirForm(context, async () => taskAt(context, needsId(id)));
  }

  /** What nobody follows costs nothing, and what somebody follows ends when they leave. */
  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    await this.getTask({ id, tenant: '' });
    throw new TaskNotCancelableError('Cannot cancel the task: it ends when its reader leaves.');
  }

  /** Nothing is kept of who follows what. */
  async listTasks(): Promise<ListTasksResponse> {
    return { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  }

  async *resubscribe({
    id,
  }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { context, signal, rawJson } = this.#asked;
    try {
      yield* following(context, needsId(id), { signal, verbatim: rawJson });
    } catch (error) {
      throw toA2aError(context, error);
    }
  }

  async getAuthenticatedExtendedAgentCard(
    _?: GetExtendedAgentCardRequest,
    call?: ServerCallContext,
  ): Promise<never> {
    // Version 0.3 has no other error for it.
    if (call?.requestedVersion === '0.3') throw new ExtendedAgentCardNotConfiguredError(NO_MORE);
    throw new UnsupportedOperationError(NO_MORE);
  }

  async createTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError(NO_PUSH);
  }

  async getTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError(NO_PUSH);
  }

  async listTaskPushNotificationConfigs(): Promise<never> {
    throw new PushNotificationNotSupportedError(NO_PUSH);
  }

  async deleteTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError(NO_PUSH);
  }

  async #heard({ message, metadata }: SendMessageRequest): Promise<Heard> {
    const { context } = this.#asked;
    if (message === undefined) throw new RequestMalformedError(NO_MESSAGE);
    const contextId = contextOf(context, message);
    const inWords = new Map<number, string>();
    const parts = message.parts.map((part, at) => {
      const data = dataInWords(part);
      if (data === undefined) return part;
      inWords.set(at, data.text);
      return data.part;
    });
    const isData = message.parts.some(({ content }) => content?.$case === 'data');
    const rawData = isData ? await this.#rawData() : [];
    return {
      message: { ...message, parts, contextId },
      metadata: { ...metadata, ...message.metadata },
      spelled: (part) => inWords.get(part) ?? rawData[part]?.toString(),
    };
  }

  async #rawData(): Promise<readonly (Buffer | undefined)[]> {
    const { bytes, path } = this.#asked;
    const parts = await rawValue(bytes, [...path, 'parts']);
    return parts === undefined ? [] : await rawValueOfEach(parts, 'data');
  }
}

const NO_MESSAGE = 'Cannot read the message: "message" is missing.';
const NO_MORE =
  'Cannot answer an extended agent card: the agent card has everything, for everybody.';
const NO_PUSH =
  'Cannot push: there are no push notifications. Stream a message with {"data":{"skill":"follow"}} instead, or poll with {"data":{"skill":"read","after":…}}.';

/** The context that a message belongs to: the one it names, else that of its task. */
function contextOf(context: DoorRequest, { taskId, contextId }: Message): string {
  if (taskId === '') return contextId;
  const task = taskAt(context, taskId);
  if (contextId === '' || contextId === task.contextId) return task.contextId;
  throw new RequestMalformedError(OTHER_CONTEXT);
}

const OTHER_CONTEXT =
  'Cannot read the message: its "contextId" is not that of the task named by "taskId". Leave one of them out.';

async function inTheirForm<Value>(context: DoorRequest, run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    throw toA2aError(context, error);
  }
}
