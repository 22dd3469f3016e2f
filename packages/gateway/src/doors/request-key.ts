/** The idempotency key of a request (PROTOCOL.md section 7.4). */
import type { IncomingMessage } from 'node:http';

import { queryOf } from '../http/parameters/query.ts';
import { hashIdempotencyKey, onlyKey } from '../intake/idempotency-key.ts';

/** The hash of the request's key, with a suffix for one of several entries. */
export function idempotencyKeyOf(
  request: IncomingMessage,
  suffix?: string,
): Uint8Array | undefined {
  const hasQuery = request.url?.includes('?') === true;
  const parameter = hasQuery ? onlyKey(queryOf(request).getAll('idempotency-key')) : null;
  return hashIdempotencyKey(headerOf(request), parameter, suffix);
}

/**
 * The hash of the header's key, for the entry at this index of a message: the first has the key itself, each
 * further one the key with its index.
 */
export function headerKeyOf(request: IncomingMessage, index: number): Uint8Array | undefined {
  return hashIdempotencyKey(headerOf(request), null, index === 0 ? '' : ` ${index}`);
}

function headerOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['idempotency-key'];
  return typeof header === 'string' ? header : header?.join(', ');
}
