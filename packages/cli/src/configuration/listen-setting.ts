/** Decides which address a gateway listens on, from `--listen`, the sockets of systemd, and the former `--host` and `--port`. */
import type { ListenAddress } from '@open-presence/gateway';
import { InvalidArgumentError } from 'commander';

/** The first descriptor that systemd passes (`SD_LISTEN_FDS_START` of sd_listen_fds(3)). */
const FIRST_PASSED = 3;
/** The longest path that a socket can have on Linux, in bytes (`sun_path` of unix(7)). */
const MAX_SOCKET_PATH = 107;
const MAX_PORT = 65_535;
const FORMS = 'HOST:PORT, [IPv6]:PORT, unix:PATH or fd:NUMBER';

/** Throws `InvalidArgumentError` for a text that is no address. */
export function parseListen(text: string): ListenAddress {
  const [, form, rest = ''] = /^(unix|fd):(.*)$/s.exec(text) ?? [];
  if (form === 'unix') return { path: checkedPath(rest) };
  if (form === 'fd' && /^\d{1,9}$/.test(rest)) return { fd: Number(rest) };
  const [, ipv6, host = ipv6, port] = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > MAX_PORT)
    throw new InvalidArgumentError(`It must be ${FORMS}.`);
  return { host, port: Number(port) };
}

function checkedPath(path: string): string {
  const bytes = Buffer.byteLength(path);
  if (bytes > 0 && bytes <= MAX_SOCKET_PATH && !path.includes('\0')) return path;
  throw new InvalidArgumentError(
    `The path of a socket must have 1 to ${MAX_SOCKET_PATH} bytes, and this one has ${bytes}.`,
  );
}

interface ListenSettings {
  readonly listen?: string;
  readonly host: string;
  readonly port: number;
}

/** `--listen` comes first, then a socket that systemd has passed, then `--host` and `--port`. */
export function listenAddress(
  { listen, host, port }: ListenSettings,
  passedSockets: number,
): ListenAddress {
  if (listen !== undefined) return parseListen(listen);
  if (passedSockets === 0) return { host, port };
  if (passedSockets === 1) return { fd: FIRST_PASSED };
  throw new Error(
    `Cannot listen: systemd passes ${passedSockets} sockets, and a gateway listens on one. Give its socket unit one ListenStream=.`,
  );
}

/** The address in the form that `--listen` takes. */
export function describeListen(address: ListenAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  if ('fd' in address) return `fd:${address.fd}`;
  const { host, port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
