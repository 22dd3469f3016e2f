import { GatewayError, type Fault } from '@open-presence/protocol';

import type { Log, Seq } from '../log/log.ts';

/** A value that cannot be used, and what its error contains if it is the only one. */
export interface ParameterFault {
  readonly code: 'invalid-parameter' | 'unknown-room' | 'unknown-kind';
  readonly fault: Fault;
  readonly known?: readonly string[];
}

/** The most faults of one request that are reported: a parameter can be wrong a million times. */
export const MAX_FAULTS = 16;

const MAX_QUOTE = 60;

export function invalidParameter(parameter: string, detail: string): ParameterFault {
  return { code: 'invalid-parameter', fault: { parameter, detail } };
}

export function parameterError(found: readonly ParameterFault[], subject: string): GatewayError {
  const faults = found.map(({ fault }) => fault);
  const { code = 'invalid-parameter', known }: Partial<ParameterFault> =
    (found.length === 1 ? found[0] : undefined) ?? {};
  const sentence = faults.map(({ detail }) => detail).join('; ');
  return new GatewayError(code, `Cannot read ${subject}: ${sentence}`, {
    faults,
    ...(known === undefined ? {} : { known }),
  });
}

/** Throws `invalid-parameter` for parameters that have no effect here. `refused` says why, by name. */
export function rejectParameters(
  parameters: URLSearchParams,
  subject: string,
  refused: Readonly<Record<string, string>>,
): void {
  const faults = Object.entries(refused)
    .filter(([name]) => parameters.has(name))
    .map(([name, reason]) => invalidParameter(name, `"${name}" has no effect here: ${reason}`));
  if (faults.length > 0) throw parameterError(faults, subject);
}

/** Parameters of listings that a stream of entries cannot obey, each with the alternative. */
export const REFUSED_BY_STREAMS: Readonly<Record<string, string>> = {
  before: 'a stream has no end; read a listing instead',
  until: 'a stream has no end; read a listing instead',
  wait: 'a stream waits by itself',
  with: 'a stream has entries as they were stored; read a listing with it instead',
  q: 'a stream sends entries before they are searchable; read a listing or /api/search with "q", "after" and "wait" instead, such as /api/garden?q=mint&after=42&wait=30',
};

const OLDEST_FIRST =
  'new entries come in the order of the log, the oldest first; leave it out, or read a listing instead';

/** Throws `invalid-parameter` for another order than that of the log. */
export function requireLogOrder(parameters: URLSearchParams, subject: string): void {
  if (parameters.getAll('order').every((order) => order === 'oldest')) return;
  rejectParameters(parameters, subject, { order: OLDEST_FIRST });
}

/** The error for a cursor beyond the head, as it was sent. */
export function foreignCursor(
  after: string,
  log: Pick<Log, 'head' | 'id'>,
  subject: string,
): GatewayError {
  const head = log.head();
  const detail = `"after" must be a cursor from this log, but ${describeForeignCursor(after, head)}`;
  const faults = [{ parameter: 'after', detail }];
  const begin = `Begin with ${head} as "after" to get what is new, or with 0 to read everything again.`;
  const message = `Cannot read ${subject}: ${detail}. ${begin}`;
  return new GatewayError('invalid-parameter', message, { faults, head, log: log.id });
}

/** Why a cursor beyond the head cannot be from this log. */
export function describeForeignCursor(cursor: Seq | string, head: Seq): string {
  const digits = String(cursor);
  const start = digits.length <= MAX_QUOTE ? digits : `${digits.slice(0, MAX_QUOTE)}…`;
  return `${start} is beyond its head, ${head}: the log was restored from a backup, or the cursor is from another gateway`;
}

export function quote(text: string): string {
  if (text.length <= MAX_QUOTE) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, MAX_QUOTE).toWellFormed())}…`;
}
