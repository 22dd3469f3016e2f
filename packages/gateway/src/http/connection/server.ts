/**
 * Node's HTTP server with Node's default limits lifted.
 *
 * Owns connections: accepting them, and closing them when the gateway stops. Refuses to know paths.
 * Upholds that no caller is disconnected for being slow, large or idle, and that Node sends no
 * response of its own, which would have an empty body.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { MAX_HEADER_SIZE } from '@open-presence/protocol';

import { deferTurn } from '../../fair-turns.ts';
import { noteReleased } from '../../idle-memory.ts';
import { ClosingConnection } from './closing-connection.ts';
import { Connection, type ConnectionCallbacks } from './connection.ts';
import type { ListenAddress } from './listen-address.ts';
import type { ClientError } from './malformed-request.ts';
import { createServer } from './node-http.ts';
import type { RouteName } from '../request-observer.ts';
import { discardInput } from '../request/discard-input.ts';

export interface Callbacks extends Omit<ConnectionCallbacks, 'headTooLong'> {
  /** Returns what answers the request. */
  request(request: IncomingMessage, response: ServerResponse): RouteName;
  /** Called when connections can no longer be accepted, and without an error when they can again. */
  acceptChanged(error?: Error): void;
  /** Called for bytes that are not a request. Resolves to the status that was sent, if one was. */
  malformed(error: ClientError, socket: Duplex): Promise<number | undefined>;
}

export interface ListenOptions {
  readonly address: ListenAddress;
  /** Whether other threads listen at the same address: the system distributes connections then. */
  readonly shared: boolean;
  /** A connection beyond these is closed at once. */
  readonly maxConnections: number;
  /** Whether simple requests bypass `node:http`: true by default, false to compare. */
  readonly bypass?: boolean;
}

/** No more fit into a head, where each counts at least 32 bytes. Trailers may not be more either. */
const MAX_HEADERS = MAX_HEADER_SIZE / 32;
/** What a connection takes at least, in bytes of the heap. */
const CONNECTION_SIZE = 4096;
/** Silence after which TCP keep-alive checks whether the caller still exists. */
const KEEP_ALIVE_PROBE_MS = 60_000;
/** How often idle connections are closed while the server stops. */
const CLOSE_IDLE_INTERVAL_MS = 50;

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

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

/** With the code that Node gives such an error. */
const HEAD_TOO_LONG = Object.assign(new Error('The head of a request is too long.'), {
  code: 'HPE_HEADER_OVERFLOW',
});

export class HttpServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #callbacks: Callbacks;
  readonly #connections = new Map<Duplex, Connection>();
  #stopping = false;
  #acceptFails = false;
  #address: ListenAddress | undefined;
  /** Bytes that closed connections had read. */
  #closedBytesRead = 0;
  #closedBytesWritten = 0;

  constructor(callbacks: Callbacks) {
    const receive = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#stopping) response.shouldKeepAlive = false;
      const connection = this.#connections.get(request.socket);
      const respond = connection?.start(request, response);
      if (respond !== undefined) {
        respond(request, response);
        return;
      }
      const route = callbacks.request(request, response);
      connection?.answeredBy(route);
    };
    const malformed = (error: ClientError, socket: Duplex): void => {
      const connection = this.#connections.get(socket);
      connection?.stopParsing();
      if (connection?.isAnswered === true) {
        socket.end();
        discardInput(socket);
        return;
      }
      void callbacks.malformed(error, socket).then((status) => {
        if (status !== undefined) connection?.reportMalformed(status);
      });
    };
    const ofConnections: ConnectionCallbacks = {
      ...callbacks,
      simplePost: (post, responder) =>
        this.#stopping ? undefined : callbacks.simplePost(post, responder),
      repeatedGet: (bytes) => (this.#stopping ? undefined : callbacks.repeatedGet(bytes)),
      headTooLong: (socket) => malformed(HEAD_TOO_LONG, socket),
    };
    const server = createServer(OPTIONS, receive);
    // Node would call this on `close`, and take a connection with a simple request for idle.
    server.closeIdleConnections = () => {};
    // Who has sent a whole request and nothing more gets its answer.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.timeout = 0;
    server.maxHeadersCount = MAX_HEADERS;
    server.maxRequestsPerSocket = 0;
    // Unknown expectations are ignored.
    server.on('checkExpectation', receive);
    server.on('clientError', malformed);
    server.on('connect', ({ method, url }: IncomingMessage, socket: Duplex) => {
      if (this.#connections.get(socket)?.isDetached === true) return;
      const rawPacket = Buffer.from(`${method} ${url} HTTP/1.1\r\n`);
      const error = Object.assign(new Error('no tunnels'), {
        code: 'HPE_INVALID_METHOD',
        rawPacket,
      });
      malformed(error, socket);
    });
    server.on('connection', (socket) => {
      deferTurn();
      if (this.#acceptFails) callbacks.acceptChanged();
      this.#acceptFails = false;
      const connection = new Connection(socket, ofConnections);
      this.#connections.set(socket, connection);
      socket.once('close', () => {
        connection.close();
        noteReleased(CONNECTION_SIZE);
        this.#connections.delete(socket);
        this.#closedBytesRead += socket.bytesRead;
        this.#closedBytesWritten += socket.bytesWritten;
      });
    });
    this.#server = server;
    this.#callbacks = callbacks;
  }

  /**
   * Rejects with the system's error if it cannot listen there. A connection beyond `most` is closed at once:
   * established ones go on.
   */
  async listen({ address, shared, maxConnections: most }: ListenOptions): Promise<void> {
    if (Number.isFinite(most)) this.#server.maxConnections = most;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(nodeListenOptions(address, shared), resolve);
    await promise;
    this.#address = address;
    this.#server.off('error', reject);
    // Node goes on listening.
    this.#server.on('error', (error) => {
      if (!this.#acceptFails) this.#callbacks.acceptChanged(error);
      this.#acceptFails = true;
    });
  }

  /** See `Connection.detach`. */
  detach(response: ServerResponse, closed: () => void): boolean {
    const { socket } = response;
    return socket !== null && this.#connections.get(socket)?.detach(closed) === true;
  }

  /** Open connections, and the bytes of all until now. */
  traffic(): { connections: number; bytesRead: number; bytesWritten: number } {
    let bytesRead = this.#closedBytesRead;
    let bytesWritten = this.#closedBytesWritten;
    for (const { socket } of this.#connections.values()) {
      bytesRead += socket.bytesRead;
      bytesWritten += socket.bytesWritten;
    }
    return { connections: this.#connections.size, bytesRead, bytesWritten };
  }

  /** `http://127.0.0.1:7410`, `unix:PATH`, or `fd:0` for an inherited UNIX socket. */
  get address(): string {
    const found = this.#server.address();
    if (typeof found === 'object' && found !== null) {
      const { address, family, port } = found;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
    }
    const own = this.#address;
    if (own === undefined || 'port' in own) throw new Error('The server does not listen.');
    return 'path' in own ? `unix:${own.path}` : `fd:${own.fd}`;
  }

  /** Whether only this machine reaches the listener: a loopback address or a UNIX socket. */
  get isLoopback(): boolean {
    const found = this.#server.address();
    return typeof found !== 'object' || found === null || LOOPBACK.test(found.address);
  }

  /** Stops accepting; resolves when all requests in progress are finished, or their callers stall. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#stopping = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    const open = [...this.#connections.values()].map((each) => new ClosingConnection(each));
    const timer = setInterval(() => {
      for (const connection of open) connection.closeIfSilent();
    }, CLOSE_IDLE_INTERVAL_MS);
    await promise;
    clearInterval(timer);
  }
}

function nodeListenOptions(address: ListenAddress, shared: boolean): object {
  if ('port' in address) return { ...address, reusePort: shared };
  if ('fd' in address) return address;
  // As a port of this machine, any user can reach it; its folder may let in fewer.
  return { ...address, readableAll: true, writableAll: true };
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

/** The path, with one slash at its start, and query of a request target in any form (RFC 9112 section 3.2). */
export function originForm(target: string): string {
  return target.replace(ABSOLUTE, '').replace(/^\/*/, '/');
}
