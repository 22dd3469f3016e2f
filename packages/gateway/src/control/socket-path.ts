/** The path of the owner's socket, whose length the system bounds. */
import { open } from 'node:fs/promises';
import { platform } from 'node:os';
import { join, relative, resolve } from 'node:path';

export const SOCKET = 'control.sock';

/** Bytes of a socket's path: macOS has room for 104 with a zero at the end, Linux for 108. */
const MAX_PATH_LENGTH = 103;

/** Usable until it is disposed of. */
export interface SocketPath extends AsyncDisposable {
  readonly path: string;
}

/** A short path to the socket, however long the folder's is: through a descriptor on Linux, relative elsewhere. */
export async function openSocketPath(folder: string): Promise<SocketPath> {
  const path = join(resolve(folder), SOCKET);
  if (Buffer.byteLength(path) <= MAX_PATH_LENGTH) return { path, [Symbol.asyncDispose]: noop };
  if (platform() !== 'linux') return { path: relative('.', path), [Symbol.asyncDispose]: noop };
  const handle = await open(folder);
  return {
    path: `/proc/self/fd/${handle.fd}/${SOCKET}`,
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function noop(): Promise<void> {}
