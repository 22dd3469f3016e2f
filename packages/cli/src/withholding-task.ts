/**
 * Which entries `presence withhold`, `hide` and `show` mean, and the requests to their gateway or folder. The gateway
 * selects as listings do; what it cannot select, this process looks for. Leaves to `withhold.ts` what is asked
 * and printed.
 */
import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';

import {
  CLOSE_NOTICE_PATH,
  type OwnerAccess,
  PREVIEW_PATH,
  SHOW_NOTICE_PATH,
  TEXTS_PATH,
  WITHHOLD_PATH,
} from '@open-presence/gateway';
import { type OwnMembers, referencedId } from '@open-presence/protocol';

import type { Configuration } from './configuration/configuration.ts';
import { ProgressBar } from './copy/progress-bar.ts';
import type { ProcessContext } from './process-context.ts';

/** The parameters of listings (PROTOCOL.md section 8.2) that select entries. */
export const FILTERS = [
  'identity',
  'to',
  'seeking',
  'kind',
  'room',
  'q',
  'since',
  'until',
  'after',
  'before',
] as const;

export interface Options
  extends
    Pick<Configuration, 'data' | 'language'>,
    Partial<Record<(typeof FILTERS)[number], string | number>> {
  readonly from?: string;
  readonly beneath?: string;
  readonly notice?: string;
  readonly matching?: RegExp;
  readonly namePrefix?: string;
  readonly hidden?: boolean;
  readonly name?: string;
  readonly reason?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export interface Selected {
  readonly selected: number;
  readonly alreadyWithheld: number;
  readonly before: number;
  /** A few of them: the first ones, or a random sample. */
  readonly entries: readonly ShownEntry[];
}

interface ShownEntry extends OwnMembers {
  readonly [member: string]: unknown;
}

export type State = 'withheld' | 'hidden' | 'shown';

export interface Task {
  readonly state: State;
  readonly access: OwnerAccess;
  readonly ids: readonly string[];
  /** Whether the selection has no entry. */
  readonly isEmpty?: boolean;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/** The task with the ids in the member `what` of its notice, unless ids or options say which entries. */
export async function withNotice(task: Task): Promise<Task> {
  const { access, ids, options, signal } = task;
  const { notice: number, from, beneath } = options;
  if (number === undefined) return task;
  let what = '';
  for await (const { words } of access.request(SHOW_NOTICE_PATH, { number }, signal)) {
    // The text of the notice follows, of any length.
    if (words === undefined) break;
    if (isObject(words)) what = String(words['what']);
  }
  const named = what.split(/[\s<>"',;()]+/).flatMap((word) => referencedId(word) ?? []);
  const isSelected = [...FILTERS.map((name) => options[name]), from, beneath].some(
    (value) => value !== undefined,
  );
  if (ids.length > 0 || isSelected) return task;
  if (named.length > 0) return { ...task, ids: named };
  throw new Error('The notice names no entry by its id: say which entries by ids or by options.');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

export async function closeNotice(
  { access, options, signal }: Task,
  number: string,
): Promise<void> {
  const body = { number, reason: options.reason };
  for await (const _ of access.request(CLOSE_NOTICE_PATH, body, signal));
}

/**
 * The task with the ids of the entries that `--beneath`, `--matching` and `--name-prefix` select. Matches
 * texts in this process, so that a slow expression does not hold up the gateway.
 */
export async function lookedThrough(context: ProcessContext, task: Task): Promise<Task> {
  const { beneath, matching, namePrefix } = task.options;
  const listed = await listedIds(context, task);
  const ids = [...task.ids, ...listed];
  const given = { ...task, ids, isEmpty: task.options.from !== undefined && ids.length === 0 };
  if (beneath === undefined && matching === undefined && namePrefix === undefined) return given;
  if (beneath !== undefined && given.ids.length > 0)
    throw new Error('Say which entries either by their ids or by --beneath, not by both.');
  using progress = new ProgressBar(context);
  const found = new Set<string>();
  let read = 0;
  for await (const { id, author, text: said } of request(given, TEXTS_PATH, { beneath })) {
    const isMeant =
      (matching?.test(String(said)) ?? true) &&
      (namePrefix === undefined || (typeof author === 'string' && author.startsWith(namePrefix)));
    if (isMeant) found.add(String(id));
    read += 1;
    if (read % PROGRESS_STEP === 0) progress.show(read, undefined);
  }
  const options = withoutFilters(task.options);
  return { ...task, ids: [...found], isEmpty: found.size === 0, options };
}

const PROGRESS_STEP = 1000;

function withoutFilters(options: Options): Options {
  return { ...options, ...Object.fromEntries(FILTERS.map((name) => [name, undefined])) };
}

/** The ids in the file of `--from`, without blank lines. */
async function listedIds({ stdin }: ProcessContext, { options, signal }: Task): Promise<string[]> {
  const { from } = options;
  if (from === undefined) return [];
  const lines = await text(addAbortSignal(signal, from === '-' ? stdin : createReadStream(from)));
  return lines.split('\n').flatMap((line) => line.trim() || []);
}

export async function preview(context: ProcessContext, task: Task): Promise<Selected> {
  // Without ids, the gateway would take everything that is hidden.
  if (task.isEmpty === true) return { selected: 0, alreadyWithheld: 0, before: 0, entries: [] };
  using progress = new ProgressBar(context);
  const entries: ShownEntry[] = [];
  let end: Omit<Selected, 'entries'> | undefined;
  const random = task.options.dryRun === true;
  for await (const event of request(task, PREVIEW_PATH, { random })) {
    const { entry, counted, selected, alreadyWithheld, before } = event;
    if (isEntry(entry)) entries.push(entry);
    else if (counted !== undefined) progress.show(Number(counted), undefined);
    else {
      const [count, already] = [Number(selected), Number(alreadyWithheld)];
      end = { selected: count, alreadyWithheld: already, before: Number(before) };
    }
  }
  if (end === undefined) throw new Error('the gateway has ended');
  return { ...end, entries };
}

function isEntry(value: unknown): value is ShownEntry {
  return isObject(value) && 'id' in value;
}

/** Changes only entries that were previewed. Returns how many it has changed. */
export async function change(task: Task, { before }: Selected): Promise<number> {
  const { reason } = task.options;
  try {
    for await (const event of request(task, WITHHOLD_PATH, { reason }, before))
      if ('withheld' in event) return Number(event['withheld']);
  } catch (error) {
    const hasEnded = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
    if (!hasEnded && !task.signal.aborted) throw error;
  }
  const cause = task.signal.aborted ? 'it was interrupted' : 'the gateway has ended';
  throw new Error(`${cause}: whether it is done is unknown. Ask again`);
}

function request(
  { state, access, ids, options, signal }: Task,
  path: string,
  body: object,
  before?: number,
): ReturnType<OwnerAccess['request']> {
  const filters = new URLSearchParams();
  for (const name of FILTERS) {
    const value = options[name];
    if (value !== undefined) filters.append(name, String(value));
  }
  if (ids.length > 0 && filters.size > 0)
    throw new Error('Say which entries either by their ids or by options, not by both.');
  if (before !== undefined && ids.length === 0) filters.append('before', String(before));
  const { hidden = false } = options;
  const given = { ids, filters: filters.toString(), state, hidden };
  return access.request(path, { ...given, ...body }, signal);
}
