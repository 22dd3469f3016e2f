import { rejectParameters } from './parameter-faults.ts';

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
