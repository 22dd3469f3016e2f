/** Reads wait for what their callers have seen elsewhere (PROTOCOL.md section 8.7). */
import { queryOf } from '../http/parameters/query.ts';
import { untilSeen } from '../operations/until-seen.ts';
import type { DoorRequest } from './context.ts';

/**
 * Matches queries that may name an entry, in every spelling, so that others are not parsed. Excludes `?` from
 * names, so that it takes linear time.
 */
const NAMING = /[?&](?:after|before|inReplyTo|thread|[^=&?%]*%)/;

/** Resolves when the log has the entries that the path and the query name. Undefined if it has them now. */
export function untilNamedIsThere({
  app,
  request,
  params,
}: DoorRequest): Promise<void> | undefined {
  const { url = '' } = request;
  const inPath =
    params['id'] === undefined ? undefined : untilSeen(app.log, [['id', params['id']]]);
  return inPath ?? (NAMING.test(url) ? untilSeen(app.log, queryOf(request)) : undefined);
}
