/**
 * Tasks: each follows a selection of entries (PROTOCOL.md section 19.4). The id of a task contains its
 * parameters, so nothing is stored for it.
 */
import { type Artifact, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';

import { follow } from '../../feed/follow.ts';
import {
  REFUSED_BY_STREAMS,
  rejectParameters,
  requireLogOrder,
} from '../../intake/parameter-faults.ts';
import type { JsonObject } from '../../json/json-object.ts';
import type { Entry, Selection } from '../../log/log.ts';
import { visitorFor } from '../../operations/who-is-here.ts';
import type { DoorRequest } from '../context.ts';
import { entryValue, visitorPart } from './parts.ts';
import { parametersOf, selectionOf } from './read.ts';

const ID_PREFIX = 'follow-';
/** The parameter for the context that a task belongs to; without it, the task is its own context. */
const CONTEXT = 'contextId';

const REFUSED = {
  ...REFUSED_BY_STREAMS,
  skip: 'only a search can skip results',
  q: 'entries are followed before they are searchable. Read with "skill": "read", "q" and "after" instead.',
};

/** Creates a task that follows from now on, or from `after` or `since`. */
export async function createTask(
  context: DoorRequest,
  fields: JsonObject,
  contextId: string,
): Promise<Task> {
  const parameters = parametersOf(fields);
  const { since, after } = await selectionOf(context, parameters);
  rejectParameters(parameters, 'the entries to come', REFUSED);
  requireLogOrder(parameters, 'the entries to come');
  parameters.delete('skill');
  const start = after ?? (since === undefined ? context.app.log.head() : 0);
  parameters.set('after', String(start));
  if (contextId !== '') parameters.set(CONTEXT, contextId);
  const id = ID_PREFIX + Buffer.from(parameters.toString()).toString('base64url');
  return taskOf(id, parameters);
}

/** Throws `TaskNotFoundError` for an id that no task can have. */
export async function findTask(context: DoorRequest, id: unknown): Promise<Task> {
  if (typeof id !== 'string' || id.trim() === '') throw new RequestMalformedError(NO_ID);
  return taskOf(id, await taskParameters(context, id));
}

function taskOf(id: string, parameters: URLSearchParams): Task {
  const contextId = parameters.get(CONTEXT) ?? id;
  const status = statusOf(TaskState.TASK_STATE_WORKING);
  return { id, contextId, status, artifacts: [], history: [], metadata: undefined };
}

function statusOf(state: TaskState): NonNullable<Task['status']> {
  return { state, message: undefined, timestamp: new Date().toISOString() };
}

async function taskParameters(context: DoorRequest, id: string): Promise<URLSearchParams> {
  const text = Buffer.from(id.slice(ID_PREFIX.length), 'base64url').toString();
  const parameters = new URLSearchParams(text);
  if (!id.startsWith(ID_PREFIX) || !parameters.has('after')) throw new TaskNotFoundError(NO_TASK);
  await selectionOf(context, parameters);
  return parameters;
}

const NO_TASK =
  'Cannot find the task: the only tasks here follow a room or a selection. Send a message with "skill": "follow" to create one.';

const NO_ID = 'Cannot find the task: "id" is missing.';

/**
 * Yields the task, then an artifact for each entry until the signal is aborted. After `limit` entries, says that
 * the task is completed.
 */
export async function* followTask(
  context: DoorRequest,
  task: Task,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<StreamResponse, void, undefined> {
  const { id: taskId, contextId } = task;
  const parameters = await taskParameters(context, taskId);
  yield { payload: { $case: 'task', value: task } };
  const { app } = context;
  const reader = visitorFor(app, parameters.get('as'), parameters.get('room'));
  using _present = reader && app.presence.openStream(reader);
  const selection = await selectionOf(context, parameters);
  for await (const entry of followedEntries(context, selection, signal)) {
    const artifact = await artifactOf(context, entry);
    const flags = { append: false, lastChunk: true, metadata: undefined };
    yield {
      payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, ...flags } },
    };
  }
  if (signal.aborted) return;
  const status = statusOf(TaskState.TASK_STATE_COMPLETED);
  const value = { taskId, contextId, status, metadata: undefined };
  yield { payload: { $case: 'statusUpdate', value } };
}

/** Up to `limit` entries. */
async function* followedEntries(
  { app: { log } }: DoorRequest,
  { facets, since, after = 0, limit }: Selection,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  const selection = { facets, ...(since === undefined ? {} : { since }) };
  let count = 0;
  if (limit === 0) return;
  try {
    for await (const range of follow(log, selection, { after, signal })) {
      for await (const entry of log.readEntries({ ...range, signal })) {
        yield entry;
        count += 1;
        if (count === limit) return;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function artifactOf(context: DoorRequest, entry: Entry): Promise<Artifact> {
  const { id, kind, seq } = entry.metadata;
  return {
    artifactId: id,
    name: kind,
    description: '',
    extensions: [],
    parts: [visitorPart(context, { entry: await entryValue(entry) })],
    metadata: { seq },
  };
}
