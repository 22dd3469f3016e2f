/** Reading what others said, once or as it is said (PROTOCOL.md section 19.4). */
import { TaskState, type StreamResponse } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';

import { follow } from '../../feed/follow.ts';
import { rejectTextQuery, parseSelection } from '../../intake/selection.ts';
import type { Entry, ReadEnd, Selection, Seq } from '../../log/log.ts';
import type { DoorRequest } from '../context.ts';
import { READING_SKILLS } from './agent-card.ts';
import { artifactOf, facts, heard, messageOf, taskOf, toldAs } from './parts.ts';
import type { Fields, Heard } from './saying.ts';
import type { RawJson } from '../../json/raw-json.ts';

/** Entries of an answer whose `limit` nobody chose. */
const BY_DEFAULT = 50;
/** An answer ends with the entry by which its texts have come so far. */
const FULL = 256 * 1024;

type Reading = (typeof READING_SKILLS)[number];

/** What is asked for, where a message asks to read. */
export interface Question {
  readonly skill: Reading;
  readonly fields: Fields;
}

/** Words beside it are no entry; other data might be meant as one. */
export function questionIn({ message, metadata }: Heard): Question | undefined {
  const data = message.parts.flatMap(({ content }) =>
    content?.$case === 'data' ? [fieldsOf(content.value)] : [],
  );
  const asked = data.map((one) => skillIn('skill' in one ? one : metadata));
  const skill = data.length === 0 ? skillIn(metadata) : asked.find((one) => one !== undefined);
  if (skill === undefined) return undefined;
  if (data.length > 1) throw new RequestMalformedError(ALONE);
  return { skill, fields: { ...metadata, ...data[0] } };
}

function skillIn({ skill }: Fields): Reading | undefined {
  return READING_SKILLS.find((one) => one === skill);
}

const ALONE =
  'Cannot read the message: data that ask to read or to follow must be the only data in it. Send the others in another message.';

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

type Plain = string | number | readonly (string | number)[];

/** The fields that can be parameters. */
function plain(fields: Fields): Readonly<Record<string, Plain>> {
  const found = Object.entries(fields).flatMap(([name, value]): [string, Plain][] => {
    if (isWord(value)) return [[name, value]];
    return Array.isArray(value) ? [[name, value.filter(isWord)]] : [];
  });
  return Object.fromEntries(found);
}

function isWord(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** As in the query of a listing. */
function parametersOf(fields: Fields): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(plain(fields))) {
    for (const one of isWord(value) ? [value] : value) parameters.append(name, String(one));
  }
  return parameters;
}

/** Throws for parameters that cannot be used. */
function selectionIn({ app }: DoorRequest, parameters: URLSearchParams): Selection {
  const { grammar } = app;
  return parseSelection(parameters, { grammar, facets: [], kinds: true, subject: 'the entries' });
}

export async function read(
  context: DoorRequest,
  { message, fields }: Pick<Heard, 'message'> & Question,
  verbatim: RawJson,
): Promise<ReturnType<typeof messageOf>> {
  const { log } = context.app;
  const parameters = parametersOf(fields);
  const wanted = selectionIn(context, parameters);
  const head = log.head();
  const selection = {
    ...wanted,
    ...(parameters.has('limit') ? {} : { limit: BY_DEFAULT }),
    before: Math.min(wanted.before ?? Infinity, head + 1),
  };
  const { entries, end } = await page(log.readEntries(selection), verbatim);
  const cursor = selection.order === 'newest' ? 'before' : 'after';
  const next = end.more && end.last !== undefined ? { ...plain(fields), [cursor]: end.last } : null;
  return messageOf([facts({ head, next }), heard(context, { entries })], message);
}

/** Entries until the answer is full. */
async function page(
  reading: AsyncGenerator<Entry, ReadEnd, undefined>,
  verbatim: RawJson,
): Promise<{ entries: string[]; end: ReadEnd }> {
  const entries: string[] = [];
  let last: Seq | undefined;
  try {
    for (let size = 0; ;) {
      const step = await reading.next();
      if (step.done === true) return { entries, end: step.value };
      if (size >= FULL) return { entries, end: { last, more: true } };
      entries.push(await toldAs(step.value, verbatim));
      last = step.value.stamp.seq;
      size += Math.min(step.value.size, FULL);
    }
  } finally {
    await reading.return({ last: undefined, more: false });
  }
}

const FOLLOWING = 'follow-';
const READ_INSTEAD =
  'entries are followed before they are searchable. Read with "skill": "read", "q" and "after" instead.';

/** A task that is to follow what is asked for from now on, or from where that says. */
export function followed(
  context: DoorRequest,
  { fields }: Question,
  contextId: string,
): ReturnType<typeof taskOf> {
  const parameters = parametersOf(fields);
  const { since, after } = selectionIn(context, parameters);
  rejectTextQuery(parameters, 'what will be said', READ_INSTEAD);
  for (const name of ['skill', 'idempotencyKey', 'order', 'before', 'until'])
    parameters.delete(name);
  const { log } = context.app;
  const from = after ?? (since === undefined ? log.head() : 0);
  parameters.set('after', String(from));
  parameters.delete(CONTEXT);
  if (contextId !== '') parameters.set(CONTEXT, contextId);
  const id = FOLLOWING + Buffer.from(parameters.toString()).toString('base64url');
  return taskOf(id, contextIn(parameters, id), new Date().toISOString());
}

/** The parameter of a task's id that says which context it belongs to. */
const CONTEXT = 'contextId';

/** The task of an id, which says all that it is. */
export function taskAt(context: DoorRequest, id: string): ReturnType<typeof taskOf> {
  return taskOf(id, contextIn(parametersAt(context, id), id), new Date().toISOString());
}

function contextIn(parameters: URLSearchParams, id: string): string {
  return parameters.get(CONTEXT) ?? id;
}

function parametersAt(context: DoorRequest, id: string): URLSearchParams {
  const text = Buffer.from(id.slice(FOLLOWING.length), 'base64url').toString();
  const parameters = new URLSearchParams(text);
  if (!id.startsWith(FOLLOWING) || !parameters.has('after')) throw new TaskNotFoundError(NO_TASK);
  selectionIn(context, parameters);
  return parameters;
}

const NO_TASK =
  'Cannot find the task: the only tasks here follow a room or a selection. Send a message with "skill": "follow" to create one.';

/** The task, then each entry as an artifact of its own, until the signal or as many as `limit` says. */
export async function* following(
  context: DoorRequest,
  id: string,
  { signal, verbatim }: { readonly signal: AbortSignal; readonly verbatim: RawJson },
): AsyncGenerator<StreamResponse, void, undefined> {
  const { log, presence } = context.app;
  const parameters = parametersAt(context, id);
  const { facets, since, after = 0, limit = Infinity } = selectionIn(context, parameters);
  const contextId = contextIn(parameters, id);
  const task = taskOf(id, contextId, new Date().toISOString());
  yield { payload: { $case: 'task', value: task } };
  const identity = parameters.get('as') ?? '';
  const room = parameters.get('room') ?? undefined;
  using _here = identity === '' ? undefined : presence.openStream({ identity, room });
  const selection = { facets, ...(since === undefined ? {} : { since }) };
  let given = 0;
  for await (const news of limit === 0 ? [] : follow(log, selection, { after, signal })) {
    for await (const entry of log.readEntries(news)) {
      if (signal.aborted) return;
      const part = heard(context, { entry: await toldAs(entry, verbatim) });
      const artifact = artifactOf(entry.stamp, part);
      const value = {
        taskId: id,
        contextId,
        artifact,
        append: false,
        lastChunk: true,
        metadata: undefined,
      };
      yield { payload: { $case: 'artifactUpdate', value } };
      given += 1;
      if (given === limit) break;
    }
    if (given === limit) break;
  }
  if (signal.aborted) return;
  const status = {
    state: TaskState.TASK_STATE_COMPLETED,
    message: undefined,
    timestamp: new Date().toISOString(),
  };
  yield {
    payload: {
      $case: 'statusUpdate',
      value: { taskId: id, contextId, status, metadata: undefined },
    },
  };
}

/** For what needs an id. */
export function needsId(id: unknown): string {
  if (typeof id === 'string' && id.trim() !== '') return id;
  throw new RequestMalformedError('Cannot find the task: "id" is missing.');
}
