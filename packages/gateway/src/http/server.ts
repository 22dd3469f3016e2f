/**
 * The HTTP server underneath, with every bound lifted that Node sets by itself.
 *
 * Owns connections: accepting them, and letting them go when the gateway rests. Refuses to know
 * paths. Upholds that no caller is cut off for being slow, large or idle, and that no answer is an
 * empty one of Node's own.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { MAX_HEADER_SIZE } from '@open-presence/protocol';

import type { ClientError } from './malformed-request.ts';

export interface Callbacks {
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Bytes that are no request. */
  malformed(error: ClientError, socket: Duplex): void;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other threads listen there too: then the system deals out callers among them. */
  readonly shared: boolean;
  readonly maxConnections: number;
}

/** When the network is asked whether a silent caller still exists. */
const PROBE_AFTER_MS = 60_000;
/** How often connections that have become idle are let go while the gateway rests. */
const LETTING_GO_MS = 50;

const OPTIONS = {
  maxHeaderSize: MAX_HEADER_SIZE,
  // Node would answer the missing one with nothing but a status.
  requireHostHeader: false,
  requestTimeout: 0,
  headersTimeout: 0,
  // Whoever is silent between two requests may be so for long; the network tells who is gone.
  keepAliveTimeout: 0,
  keepAlive: true,
  keepAliveInitialDelay: PROBE_AFTER_MS,
} as const;

export class HttpServer implements AsyncDisposable {
  readonly #server: Server;
  /** Connections without a request so far: Node 24 does not count them as idle. */
  readonly #fresh = new Set<Socket>();
  #resting = false;

  constructor(callbacks: Callbacks) {
    const receive = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#fresh.size > 0) this.#fresh.delete(request.socket);
      if (this.#resting) response.shouldKeepAlive = false;
      callbacks.request(request, response);
    };
    const server = createServer(OPTIONS, receive);
    server.timeout = 0;
    server.maxHeadersCount = 0;
    server.maxRequestsPerSocket = 0;
    // What else a caller may expect is no reason to turn it away.
    server.on('checkExpectation', receive);
    server.on('clientError', (error, socket) => callbacks.malformed(error, socket));
    server.on('connect', ({ method, url }: IncomingMessage, socket: Duplex) => {
      const rawPacket = Buffer.from(`${method} ${url} HTTP/1.1\r\n`);
      const error = Object.assign(new Error('no tunnels'), {
        code: 'HPE_INVALID_METHOD',
        rawPacket,
      });
      callbacks.malformed(error, socket);
    });
    server.on('connection', (socket) => {
      this.#fresh.add(socket);
      socket.once('close', () => this.#fresh.delete(socket));
    });
    this.#server = server;
  }

  /**
   * Rejects with the error of the system where it cannot listen there. A connection beyond `most`
   * is closed at once: what is established goes on.
   */
  async listen({ host, port, shared, maxConnections: most }: ListenOptions): Promise<void> {
    if (Number.isFinite(most)) this.#server.maxConnections = most;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen({ host, port, reusePort: shared }, resolve);
    await promise;
    this.#server.off('error', reject);
  }

  get address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening on a port');
    return address;
  }

  /** Stops accepting; resolves when all that was under way is finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#resting = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    const timer = setInterval(() => this.#letGo(), LETTING_GO_MS);
    await promise;
    clearInterval(timer);
  }

  #letGo(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#fresh) if (socket.bytesRead === 0) socket.destroy();
  }
}

/** Whether `Host` was said as often as RFC 9112 section 3.2 wants. */
export function hasHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** The path and query, from whichever form of RFC 9112 section 3.2 the target has. */
export function originForm(target: string): string {
  const path = target.replace(ABSOLUTE, '');
  return path.startsWith('/') ? path : `/${path}`;
}
