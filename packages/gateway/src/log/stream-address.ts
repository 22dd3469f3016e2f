/** Where a cluster's stream is: `nats://a:4222,b:4222,c:4222/NAME`. */
export interface StreamAddress {
  /** `HOST:PORT`. */
  readonly servers: readonly string[];
  readonly stream: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

const ADDRESS = /^nats:\/\/(?:([^:@/]+):([^@/]*)@)?([^@/?#]+)(?:\/([\w-]*))?$/;
const DEFAULT_STREAM = 'PRESENCE';

/** Undefined where the text is no such address. */
export function parseStreamAddress(text: string): StreamAddress | undefined {
  const [match, user, password, servers = '', stream = ''] = ADDRESS.exec(text) ?? [];
  if (match === undefined) return undefined;
  const hosts = servers.split(',').map((host) => host.trim());
  if (hosts.includes('')) return undefined;
  return {
    servers: hosts,
    stream: stream === '' ? DEFAULT_STREAM : stream,
    user: user && decodeURIComponent(user),
    password: password && decodeURIComponent(password),
  };
}
