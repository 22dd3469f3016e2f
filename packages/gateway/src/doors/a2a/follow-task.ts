/**
 * Tasks: each follows a selection of entries (PROTOCOL.md section 19.4). The id of a task contains its
 * parameters, so nothing is stored for it.
 */
import {
  type Artifact,
  type Message,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';

import { follow } from '../../feed/follow.ts';
import { WithholdingNotifier } from '../../feed/withholding-notifier.ts';
import {
  REFUSED_BY_STREAMS,
  rejectParameters,
  requireLogOrder,
} from '../../intake/parameter-faults.ts';
import type { JsonObject } from '../../json/json-object.ts';
import type { Entry, Withholding } from '../../log/log.ts';
import { visitorFor } from '../../operations/who-is-here.ts';
import type { DoorRequest } from '../context.ts';
import { entryValue, visitorPart } from './messages/parts.ts';
import { parametersOf, selectionOf } from './messages/read-entries.ts';

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

/** The context of a message: the one it names, else that of its task. */
export async function contextIdOf(
  context: DoorRequest,
  { taskId, contextId }: Message,
): Promise<string> {
  if (taskId === '') return contextId;
  const task = taskOf(taskId, await taskParameters(context, taskId));
  if (contextId === '' || contextId === task.contextId) return task.contextId;
  throw new RequestMalformedError(OTHER_CONTEXT);
}

const OTHER_CONTEXT =
  'Cannot read the message: its "contextId" is not that of the task named by "taskId". Leave one of them out.';

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
  for await (const entry of followedEntries(context, parameters, signal)) {
    const artifact = await artifactOf(context, entry);
    // Takes the place of an artifact with the same id.
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

/** Up to `limit` entries. Entries that are withheld meanwhile are given between them. */
async function* followedEntries(
  context: DoorRequest,
  parameters: URLSearchParams,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  const { log } = context.app;
  const { facets, since, after = 0, limit } = await selectionOf(context, parameters);
  const selection = { facets, ...(since === undefined ? {} : { since }) };
  let count = 0;
  if (limit === 0) return;
  // A cursor in the list of withholdings: a reader who stalls misses none.
  let withheld = log.withheld();
  let mayBeMore = new AbortController();
  using _listening = WithholdingNotifier.of(log).listen(() => mayBeMore.abort());
  try {
    for (let cursor = after; !signal.aborted;) {
      const following = AbortSignal.any([signal, mayBeMore.signal]);
      for await (const range of follow(log, selection, { after: cursor, signal: following })) {
        for await (const entry of log.readEntries({ ...range, signal })) {
          yield entry;
          count += 1;
          if (count === limit) return;
        }
        cursor = range.before - 1;
      }
      mayBeMore = new AbortController();
      for await (const one of log.withholdings({ order: 'oldest', after: withheld })) {
        withheld = one.number;
        const entry = isAmong(one, parameters) ? await log.entry(one.metadata.seq) : undefined;
        if (entry !== undefined) yield entry;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Whether it has one of the kinds and rooms of a task. Nothing else is known of a withheld entry. */
function isAmong({ metadata }: Withholding, parameters: URLSearchParams): boolean {
  return (['kind', 'room'] as const).every(
    (name) => !parameters.has(name) || parameters.has(name, metadata[name]),
  );
}

async function artifactOf(context: DoorRequest, entry: Entry): Promise<Artifact> {
  const { id, kind, seq } = entry.metadata;
  return {
    artifactId: id,
    name: kind,
    description: '',
    parts: [visitorPart(context, { entry: await entryValue(entry) })],
    metadata: { seq },
    extensions: [],
  };
}
