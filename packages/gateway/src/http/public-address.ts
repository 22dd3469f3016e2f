/** The gateway's address as a caller sees it, for formats that want absolute links. */
import type { RequestContext, StartupContext } from './context.ts';

/**
 * Without a slash at its end. The operator's public address or, without one, that of the caller's
 * own `Host`; what a proxy says of itself is anyone's word, and not believed.
 */
export function publicAddressOf({
  app,
  request,
}: Pick<RequestContext<StartupContext>, 'app' | 'request'>): string {
  if (app.publicUrl !== undefined) return app.publicUrl;
  const { host = '' } = request.headers;
  const said = host.length > LONGEST ? null : URL.parse(`http://${host}`);
  if (said !== null && said.host !== '' && isBare(said)) return said.origin;
  const { localAddress = 'localhost', localPort, localFamily } = request.socket;
  return `http://${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** A name of DNS, a colon and a port. Longer ones are none, and would be said again in every link. */
const LONGEST = 253 + 1 + 5;

/** Whether there is nothing in it but a host and a port. */
function isBare({ href, origin }: URL): boolean {
  return href === `${origin}/`;
}
