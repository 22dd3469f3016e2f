/** The gateway's address as a caller sees it, for formats that need absolute links. */
import type { RequestContext, StartupContext } from './context.ts';

/** Longest `Host`: a DNS name, a colon and a port. */
export const MAX_HOST_LENGTH = 253 + 1 + 5;

/**
 * The operator's public address or, without one, that of the caller's `Host`; without a trailing
 * slash. Ignores `Forwarded` and `X-Forwarded-*`, which any caller can send.
 */
export function publicAddressOf({
  app,
  request,
}: Pick<RequestContext<StartupContext>, 'app' | 'request'>): string {
  if (app.publicUrl !== undefined) return app.publicUrl;
  const { host = '' } = request.headers;
  const url = host.length > MAX_HOST_LENGTH ? null : URL.parse(`http://${host}`);
  if (url !== null && url.host !== '' && isBare(url)) return url.origin;
  const { localAddress, localPort, localFamily } = request.socket;
  // A UNIX socket has neither.
  if (localAddress === undefined) return 'http://localhost';
  return `http://${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** Whether the URL has nothing but a scheme, a host and a port. */
function isBare({ href, origin }: URL): boolean {
  return href === `${origin}/`;
}
