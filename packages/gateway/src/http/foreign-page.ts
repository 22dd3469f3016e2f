/**
 * Requests that a page of another site makes a browser send to a gateway that is for its own machine
 * alone (PROTOCOL.md section 1.12).
 *
 * A browser marks requests of other sites by `Origin` (Fetch standard) and `Sec-Fetch-Site` (Fetch
 * Metadata). Neither marks those of a page whose name resolves to this machine (DNS rebinding), but
 * their `Host` has that name.
 *
 * Invariant: A web page of another site neither reads nor writes a gateway that serves only its own
 *   machine.
 * Test: `packages/gateway/src/http/foreign-page.test.ts` “answers no page of another site, at no
 *   door, and stores nothing of it”
 * Test: `test/browser/foreign-page.test.ts` “a page of another site, in Chromium”
 */
import type { IncomingMessage } from 'node:http';

import { GatewayError, quoted } from '@open-presence/protocol';

import type { RequestContext, StartupContext } from './context.ts';
import { MAX_HOST_LENGTH } from './public-address.ts';
import { SAFETY_HEADERS } from './response/headers.ts';
import { problemResponse } from './response/problem.ts';

/** What nearly all requests have. */
const USUAL_HOST = /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/;
/** IPv4 and IPv6 addresses cannot be rebound: only names are resolved. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const LOOPBACK_HOST = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const REPAIR =
  'and this gateway serves only its own machine. Programs there: send no Origin, and a Host of localhost or an IP address. Its operator can open it to pages of all sites by starting it with its public address (--public-url).';

/** Undefined if the request may be answered. `storesByGet`: whether a `GET` of the path stores an entry. */
export function foreignPageFault(
  request: IncomingMessage,
  storesByGet: boolean,
): GatewayError | undefined {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  if (!isOwnHost(host)) return foreignPageError('Host', host);
  // Forms of pages that send no referrer have the `Origin` null, also those of our own pages.
  if (site === 'same-origin' || site === 'none') return undefined;
  if (origin !== undefined)
    return isLoopbackUrl(origin) ? undefined : foreignPageError('Origin', origin);
  if (site !== 'cross-site' || (isNavigation(request) && !storesByGet)) return undefined;
  return foreignPageError('Sec-Fetch-Site', site);
}

/** Whether no page of another site can make a browser send this `Host`. */
export function isOwnHost(host: string): boolean {
  if (USUAL_HOST.test(host) || host.length > MAX_HOST_LENGTH) return true;
  const name = hostOf(`http://${host}`);
  return name === '' || ADDRESS.test(name) || LOOPBACK_HOST.test(name);
}

/** Whether the URL, or an `Origin`, is of this machine. */
export function isLoopbackUrl(url: string): boolean {
  return LOOPBACK_HOST.test(hostOf(url));
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

/** Whether somebody follows a link in a window of their own. The page with the link reads nothing. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return (
    isRead && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  );
}

function foreignPageError(header: string, value: string): GatewayError {
  const detail = `Cannot answer a web page of another site: ${header} ${quoted(value)} is not this machine, ${REPAIR}`;
  return new GatewayError('foreign-page', detail);
}

/** Without the headers that let pages of other sites read a response. */
export function sendForeignPage(
  context: RequestContext<StartupContext>,
  error: GatewayError,
): void {
  const { status, type, headers, body } = problemResponse(context, error);
  context.response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': String(body.length),
    ...headers,
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...SAFETY_HEADERS,
  });
  context.response.end(body);
}
