/**
 * Node's HTTP server with Node's default limits lifted.
 *
 * Owns connections: accepting them, and closing them when the gateway stops. Refuses to know paths.
 * Upholds that no caller is disconnected for being slow, large or idle, and that Node sends no
 * response of its own, which would have an empty body.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { MAX_HEADER_SIZE } from '@open-presence/protocol';

import { Connection } from './connection.ts';
import type { ClientError } from './malformed-request.ts';

export interface Callbacks {
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Called when connections can no longer be accepted, and without an error when they can again. */
  acceptChanged(error?: Error): void;
  /** Called for bytes that are not a request. */
  malformed(error: ClientError, socket: Duplex): void;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other threads listen on the same port: the system distributes connections then. */
  readonly shared: boolean;
  /** A connection beyond these is closed at once. */
  readonly maxConnections: number;
}

/** Silence after which TCP keep-alive checks whether the caller still exists. */
const KEEP_ALIVE_PROBE_MS = 60_000;
/** How often idle connections are closed while the server stops. */
const CLOSE_IDLE_INTERVAL_MS = 50;
/** While the server stops, a caller that neither sends nor reads for this long is disconnected. */
const MAX_STALL_MS = 10_000;

const OPTIONS = {
  maxHeaderSize: MAX_HEADER_SIZE,
  // Node would answer a missing one without a body.
  requireHostHeader: false,
  requestTimeout: 0,
  headersTimeout: 0,
  // A caller may stay idle between requests; TCP keep-alive detects one that is gone.
  keepAliveTimeout: 0,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
} as const;

export class HttpServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #callbacks: Callbacks;
  readonly #connections = new Map<Duplex, Connection>();
  #stopping = false;
  #acceptFails = false;

  constructor(callbacks: Callbacks) {
    const receive = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#stopping) response.shouldKeepAlive = false;
      this.#connections.get(request.socket)?.start(request, response);
      callbacks.request(request, response);
    };
    const malformed = (error: ClientError, socket: Duplex): void => {
      this.#connections.get(socket)?.stopParsing();
      callbacks.malformed(error, socket);
    };
    const server = createServer(OPTIONS, receive);
    server.timeout = 0;
    server.maxHeadersCount = 0;
    server.maxRequestsPerSocket = 0;
    // Unknown expectations are ignored.
    server.on('checkExpectation', receive);
    server.on('clientError', malformed);
    server.on('connect', ({ method, url }: IncomingMessage, socket: Duplex) => {
      const rawPacket = Buffer.from(`${method} ${url} HTTP/1.1\r\n`);
      const error = Object.assign(new Error('no tunnels'), {
        code: 'HPE_INVALID_METHOD',
        rawPacket,
      });
      malformed(error, socket);
    });
    server.on('connection', (socket) => {
      if (this.#acceptFails) callbacks.acceptChanged();
      this.#acceptFails = false;
      this.#connections.set(socket, new Connection(socket));
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server = server;
    this.#callbacks = callbacks;
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
    // Node goes on listening.
    this.#server.on('error', (error) => {
      if (!this.#acceptFails) this.#callbacks.acceptChanged(error);
      this.#acceptFails = true;
    });
  }

  get address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening on a port');
    return address;
  }

  /** Stops accepting; resolves when all requests in progress are finished, or their callers stall. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#stopping = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    const timer = setInterval(() => this.#closeIdle(), CLOSE_IDLE_INTERVAL_MS);
    await promise;
    clearInterval(timer);
  }

  /** Leaves open what has a request whose caller goes on sending it, or reading the response. */
  #closeIdle(): void {
    const now = performance.now();
    for (const connection of this.#connections.values()) {
      const { response, socket } = connection;
      const isIdle = response === undefined && (socket.writable || socket.writableFinished);
      if (isIdle || connection.stalledFor(now) > MAX_STALL_MS) socket.destroy();
    }
  }
}

/** Whether `Host` is present as often as RFC 9112 section 3.2 requires. */
export function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** The path and query of a request target in any form (RFC 9112 section 3.2). */
export function originForm(target: string): string {
  const path = target.replace(ABSOLUTE, '');
  return path.startsWith('/') ? path : `/${path}`;
}
