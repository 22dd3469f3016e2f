/**
 * Accepts connections, and closes them when the gateway stops. Each begins in the lane (`fast/lane.ts`); what that
 * does not take, it gives to a server of `node:http` whose default limits are lifted.
 *
 * Refuses to know paths. Upholds that no caller is disconnected for being slow, large or idle, and that Node
 * sends no response of its own, which would have an empty body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createListener, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { MAX_HEADER_SIZE } from '@open-presence/protocol';

import { deferTurn } from '../../fair-turns.ts';
import { noteReleased } from '../../idle-memory.ts';
import { Lane, type LaneCallbacks } from '../fast/lane.ts';
import { discardInput } from '../request/discard-input.ts';
import type { ListenAddress } from './listen-address.ts';
import type { ClientError } from './malformed-request.ts';
import { createServer } from './node-http.ts';
import { StoppingLane } from './stopping-lane.ts';

export interface Callbacks extends Omit<LaneCallbacks, 'malformed' | 'handOver' | 'isStopping'> {
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
}

/** More than fit into a head. */
const MAX_HEADERS = MAX_HEADER_SIZE / 4;
/** What a connection takes at least, in bytes of the heap. */
const CONNECTION_SIZE = 4096;
/** Silence after which TCP keep-alive checks whether the caller still exists. */
const KEEP_ALIVE_PROBE_MS = 60_000;
/** How often idle connections are closed while the server stops. */
const CLOSE_IDLE_INTERVAL_MS = 50;

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

const HTTP_OPTIONS = {
  maxHeaderSize: MAX_HEADER_SIZE,
  // Node would answer a missing one without a body.
  requireHostHeader: false,
  requestTimeout: 0,
  headersTimeout: 0,
  // A caller may stay idle between requests; TCP keep-alive detects one that is gone.
  keepAliveTimeout: 0,
} as const;
const SOCKET_OPTIONS = {
  // Who has sent a whole request and nothing more gets its answer.
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
} as const;

export class HttpServer implements AsyncDisposable {
  readonly #listener: Server;
  readonly #callbacks: Callbacks;
  readonly #lanes = new Map<Duplex, Lane>();
  #stopping = false;
  #acceptFails = false;
  #address: ListenAddress | undefined;
  /** Bytes that closed connections had read. */
  #closedBytesRead = 0;
  #closedBytesWritten = 0;

  constructor(callbacks: Callbacks) {
    this.#callbacks = callbacks;
    const malformed = (error: ClientError, socket: Duplex): void => this.#refuse(error, socket);
    const http = createHttpServer(
      (request, response) => this.#receive(request, response),
      malformed,
    );
    const lane: LaneCallbacks = {
      ...callbacks,
      request: (request, response) => {
        if (this.#stopping) response.shouldKeepAlive = false;
        return callbacks.request(request, response);
      },
      malformed,
      handOver: (socket) => void http.emit('connection', socket),
      isStopping: () => this.#stopping,
    };
    this.#listener = createListener(SOCKET_OPTIONS, (socket) => this.#accept(socket, lane));
  }

  #accept(socket: Socket, callbacks: LaneCallbacks): void {
    deferTurn();
    if (this.#acceptFails) this.#callbacks.acceptChanged();
    this.#acceptFails = false;
    const lane = new Lane(socket, callbacks);
    this.#lanes.set(socket, lane);
    socket.once('close', () => {
      lane.close();
      noteReleased(CONNECTION_SIZE);
      this.#lanes.delete(socket);
      this.#closedBytesRead += socket.bytesRead;
      this.#closedBytesWritten += socket.bytesWritten;
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    this.#lanes.get(request.socket)?.began(request, response);
  }

  #refuse(error: ClientError, socket: Duplex): void {
    const lane = this.#lanes.get(socket);
    if (lane?.isAnsweredEarly === true) {
      socket.end();
      discardInput(socket);
      return;
    }
    const report = lane?.malformed();
    void this.#callbacks.malformed(error, socket).then((status) => {
      if (status !== undefined) report?.(status);
    });
  }

  /**
   * Rejects with the system's error if it cannot listen there. A connection beyond `most` is closed at once:
   * established ones go on.
   */
  async listen({ address, shared, maxConnections: most }: ListenOptions): Promise<void> {
    if (Number.isFinite(most)) this.#listener.maxConnections = most;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#listener.once('error', reject);
    this.#listener.listen(nodeListenOptions(address, shared), resolve);
    await promise;
    this.#address = address;
    this.#listener.off('error', reject);
    // Node goes on listening.
    this.#listener.on('error', (error) => {
      if (!this.#acceptFails) this.#callbacks.acceptChanged(error);
      this.#acceptFails = true;
    });
  }

  /** See `Lane.detach`. */
  detach(response: ServerResponse, closed: () => void): boolean {
    const { socket } = response;
    return socket !== null && this.#lanes.get(socket)?.detach(response, closed) === true;
  }

  /** Open connections, and the bytes of all until now. */
  traffic(): { connections: number; bytesRead: number; bytesWritten: number } {
    let bytesRead = this.#closedBytesRead;
    let bytesWritten = this.#closedBytesWritten;
    for (const { socket } of this.#lanes.values()) {
      bytesRead += socket.bytesRead;
      bytesWritten += socket.bytesWritten;
    }
    return { connections: this.#lanes.size, bytesRead, bytesWritten };
  }

  /** `http://127.0.0.1:7410`, `unix:PATH`, or `fd:0` for an inherited UNIX socket. */
  get address(): string {
    const found = this.#listener.address();
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
    const found = this.#listener.address();
    return typeof found !== 'object' || found === null || LOOPBACK.test(found.address);
  }

  /** Stops accepting; resolves when all requests in progress are finished, or their callers stall. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#listener.listening) return;
    this.#stopping = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listener.close(() => resolve());
    const open = [...this.#lanes.values()].map((each) => new StoppingLane(each));
    const timer = setInterval(() => {
      for (const lane of open) lane.closeIfSilent();
    }, CLOSE_IDLE_INTERVAL_MS);
    await promise;
    clearInterval(timer);
  }
}

function createHttpServer(
  receive: (request: IncomingMessage, response: ServerResponse) => void,
  malformed: (error: ClientError, socket: Duplex) => void,
): ReturnType<typeof createServer> {
  const server = createServer(HTTP_OPTIONS, receive);
  Object.assign(server, { httpAllowHalfOpen: true });
  server.timeout = 0;
  server.maxHeadersCount = MAX_HEADERS;
  server.maxRequestsPerSocket = 0;
  // Unknown expectations are ignored.
  server.on('checkExpectation', receive);
  server.on('clientError', malformed);
  server.on('connect', ({ method, url }: IncomingMessage, socket: Duplex) => {
    const rawPacket = Buffer.from(`${method} ${url} HTTP/1.1\r\n`);
    const error = new Error('no tunnels');
    malformed(Object.assign(error, { code: 'HPE_INVALID_METHOD', rawPacket }), socket);
  });
  return server;
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
