/** Requests that no well-behaved client sends, over a bare socket. */
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { PATIENCE_MS } from './until.ts';

interface Connection {
  readonly socket: Socket;
  /** Below TLS, if there is any. */
  readonly transport: Socket;
}

async function connect(base: URL): Promise<Connection> {
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const secure = base.protocol === 'https:';
  const port = Number(base.port) || (secure ? 443 : 80);
  const transport = connectPlain({ host, port });
  const socket = secure ? connectTls({ socket: transport, servername: host }) : transport;
  await once(socket, secure ? 'secureConnect' : 'connect');
  socket.on('error', () => {});
  return { socket, transport };
}

/**
 * Sends the pieces and reads until the gateway closes the connection. `ends`: whether the caller's half
 * of it ends after the pieces.
 */
export async function exchange(
  base: URL,
  pieces: readonly (string | Uint8Array)[],
  { ends = false }: { readonly ends?: boolean } = {},
): Promise<string> {
  const { socket } = await connect(base);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const received: Buffer[] = [];
  socket.setTimeout(PATIENCE_MS, () => reject(new Error('The connection is never closed.')));
  socket.on('data', (piece) => received.push(Buffer.from(piece)));
  socket.once('close', () => resolve(Buffer.concat(received).toString()));
  for (const piece of pieces) socket.write(piece);
  if (ends) socket.end();
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/**
 * Sends the pieces, waits for what is to happen before, and goes away without a goodbye, as a caller
 * whose line breaks.
 */
export async function breakOff(
  base: URL,
  pieces: readonly (string | Uint8Array)[],
  before: () => Promise<unknown> = async () => {},
): Promise<void> {
  const { socket, transport } = await connect(base);
  transport.on('error', () => {});
  socket.resume();
  for (const piece of pieces) {
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.write(piece, () => resolve());
    await promise;
  }
  try {
    await before();
  } finally {
    transport.resetAndDestroy();
  }
}

/** Asks, and resolves once the answer has begun, which may never end. */
export async function openRequest(
  base: URL,
  target: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ close(): void }> {
  const { socket } = await connect(base);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  let received = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    received += String(piece);
    if (!received.includes('\r\n\r\n')) return;
    if (received.startsWith('HTTP/1.1 200 ')) resolve();
    else reject(new Error(`${target} is not answered 200: ${received.slice(0, 600)}`));
  });
  socket.once('close', () => reject(new Error(`${target} is broken off: ${received}`)));
  socket.on('error', () => {});
  socket.write(head(`GET ${target} HTTP/1.1`, `Host: ${base.host}`, ...fields));
  await promise;
  return { close: () => void socket.destroy() };
}

/** The status of each answer in what a connection received. */
export function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Splits a request's head from its lines. */
export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}
