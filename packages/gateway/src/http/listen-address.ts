/** Where a listener accepts connections, and how several threads share that. */
import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';

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
 * Removes the file of a UNIX socket that nobody listens to any more, such as one that a killed process
 * has left. Rejects with `EADDRINUSE` where somebody listens.
 */
export async function removeStaleSocket(path: string): Promise<void> {
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
