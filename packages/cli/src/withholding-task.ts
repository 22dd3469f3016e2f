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
  /** How many have changed; undefined for a preview. */
  readonly changed: number | undefined;
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
 * The task with the ids of the entries that `--beneath` and `--matching` select. Matches texts in this process, so
 * that a slow expression does not hold up the gateway.
 */
export async function lookedThrough(context: ProcessContext, task: Task): Promise<Task> {
  const { beneath, matching } = task.options;
  const listed = await listedIds(context, task);
  const ids = [...task.ids, ...listed];
  const given = { ...task, ids, isEmpty: task.options.from !== undefined && ids.length === 0 };
  if (beneath === undefined && matching === undefined) return given;
  if (beneath !== undefined && given.ids.length > 0)
    throw new Error('Say which entries either by their ids or by --beneath, not by both.');
  using progress = new ProgressBar(context);
  const found = new Set<string>();
  let read = 0;
  for await (const { id, text: said } of request(given, TEXTS_PATH, { beneath })) {
    if (matching?.test(String(said)) ?? true) found.add(String(id));
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

/** Looks at the entries and, with a reason, changes them. `before`: changes only entries before this one. */
export async function selected(
  context: ProcessContext,
  task: Task,
  { reason, before }: { readonly reason?: string | undefined; readonly before?: number } = {},
): Promise<Selected> {
  const entries: ShownEntry[] = [];
  let found = { selected: 0, alreadyWithheld: 0, before: 0 };
  // Without ids, the gateway would take everything that is hidden.
  if (task.isEmpty === true) return { ...found, entries, changed: undefined };
  using progress = new ProgressBar(context);
  const random = task.options.dryRun === true;
  const path = reason === undefined ? PREVIEW_PATH : WITHHOLD_PATH;
  try {
    for await (const event of request(task, path, { random, reason }, before)) {
      const { entry, counted, withheld } = event;
      if (isEntry(entry)) entries.push(entry);
      else if (counted !== undefined) progress.show(Number(counted), undefined);
      else if (withheld !== undefined) return { ...found, entries, changed: Number(withheld) };
      else
        found = {
          selected: Number(event['selected']),
          alreadyWithheld: Number(event['alreadyWithheld']),
          before: Number(event['before']),
        };
    }
  } catch (error) {
    const hasEnded = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
    if (reason === undefined || (!hasEnded && !task.signal.aborted)) throw error;
  }
  if (reason === undefined && found.before > 0) return { ...found, entries, changed: undefined };
  const cause = task.signal.aborted ? 'it was interrupted' : 'the gateway has ended';
  throw new Error(`${cause}: whether it is done is unknown. Ask again`);
}

function isEntry(value: unknown): value is ShownEntry {
  return isObject(value) && 'id' in value;
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
  const { hidden = false, namePrefix } = options;
  const given = { ids, filters: filters.toString(), state, hidden, namePrefix };
  return access.request(path, { ...given, ...body }, signal);
}
