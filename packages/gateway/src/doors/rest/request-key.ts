/** The idempotency key of a request (PROTOCOL.md section 7.4). */
import type { IncomingMessage } from 'node:http';

import { queryOf } from '../../http/parameters/query.ts';
import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';

/** The hash of the request's key, with a suffix for one of several entries. */
export function idempotencyKeyOf(
  request: IncomingMessage,
  suffix?: string,
): Uint8Array | undefined {
  const header = request.headers['idempotency-key'];
  const hasQuery = request.url?.includes('?') === true;
  if (header === undefined && !hasQuery) return undefined;
  const parameter = hasQuery ? queryOf(request).get('idempotency-key') : null;
  const value = typeof header === 'string' ? header : header?.join(', ');
  return hashIdempotencyKey(value, parameter, suffix);
}
