/** Where a listener accepts connections, and how several threads share that. */
import { fstatSync } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';

/** A TCP address, the path of a UNIX socket, or a listening socket that the process inherited. */
export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }
  | { readonly fd: number };

/** libuv closes no descriptor up to this one. */
const LAST_STANDARD_STREAM = 2;

/**
 * Whether several threads can listen there. Each thread closes its listener, so an inherited socket
 * must be a descriptor that libuv never closes: closing one twice could close another file.
 */
export function isShareable(address: ListenAddress): boolean {
  if ('fd' in address) return address.fd <= LAST_STANDARD_STREAM;
  return 'port' in address;
}

/**
 * Removes the file of a UNIX socket that nobody listens to, such as one of a killed process. Rejects with
 * `EADDRINUSE` if somebody listens.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const file = await lstat(path).catch(() => undefined);
  if (file?.isSocket() !== true) return;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const probe = connect({ path }, () => resolve(undefined));
  probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  const failure = await promise;
  probe.destroy();
  if (failure === 'ECONNREFUSED') await rm(path);
  if (failure !== undefined) return;
  const text = `listen EADDRINUSE: address already in use ${path}`;
  throw Object.assign(new Error(text), { code: 'EADDRINUSE', syscall: 'listen' });
}

/** Where it is none, it may be one of Node's own descriptors, and the process would be aborted once it is closed. */
function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

/**
 * Makes sure that the address is free, and resolves with it. Threads that share a port get the port that was
 * chosen before.
 */
export async function freeAddress(address: ListenAddress, shared: boolean): Promise<ListenAddress> {
  if ('path' in address) await removeStaleSocket(address.path);
  if ('fd' in address && !isSocket(address.fd))
    throw Object.assign(new Error('listen ENOTSOCK'), { code: 'ENOTSOCK', syscall: 'listen' });
  if (!('port' in address) || (address.port === 0 && !shared)) return address;
  return { ...address, port: await freePort(address) };
}

/**
 * The port, or a free one for 0. Throws if it is taken: the system would let us share the port without saying
 * so, and send our visitors to another gateway.
 */
export async function freePort({ host, port }: { host: string; port: number }): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer((socket) => socket.destroy());
  server.once('error', reject).listen({ host, port }, resolve);
  await promise;
  const address = server.address();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  server.close(() => close());
  await closed;
  return typeof address === 'object' && address !== null ? address.port : port;
}
