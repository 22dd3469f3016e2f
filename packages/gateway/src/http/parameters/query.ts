/** The query parameters of a request. Escapes that cannot be decoded are left as they are. */
import type { IncomingMessage } from 'node:http';

import { canonicalName } from '../../near-names.ts';

const LIST = /\[\]|%5B%5D/i;

/** What a request asks after the question mark. */
export function queryText({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

/** By their usual names: some clients write lists as `NAME[]`. */
export function queryOf(request: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const query = queryText(request);
  const parameters = new URLSearchParams(query);
  if (!LIST.test(query)) return parameters;
  return new URLSearchParams(
    Array.from(parameters, ([name, value]): [string, string] => [canonicalName(name), value]),
  );
}

/** Frees the memory of a head: to be called once for a request that may stay open for days. */
export function forgetHead(request: IncomingMessage): void {
  request.url = '';
  request.rawHeaders = [];
  request.headers = {};
}
