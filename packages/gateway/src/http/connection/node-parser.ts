/**
 * Runs Node's HTTP parser on the bytes of a socket, but only when it is called here. Refuses to know what the
 * bytes are.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Listener = (...given: unknown[]) => void;

const TUNNEL_REQUEST = Buffer.from('CONNECT localhost:1 HTTP/1.1\r\n\r\n');

export class NodeParser {
  readonly #socket: Socket;
  readonly #parse: Listener;
  readonly #end: Listener;
  /** The HTTP server must have been given the socket. */
  constructor(socket: Socket) {
    this.#socket = socket;
    this.#parse = takeListener(socket, 'data');
    this.#end = takeListener(socket, 'end');
  }

  parse(bytes: NonSharedBuffer): void {
    this.#parse(bytes);
  }

  /** Tells it that nothing more comes. */
  end(): void {
    this.#end();
  }

  /**
   * Takes the socket from the server and frees the parser, which has 10 KiB. The request of the response
   * must be whole, and not the last one of the connection: the parser would take nothing more.
   */
  release(response: ServerResponse): void {
    response.detachSocket(this.#socket);
    // Node hands a socket over, without its parser, when a tunnel is requested.
    this.#parse(TUNNEL_REQUEST);
  }
}

function takeListener(socket: Socket, event: 'data' | 'end'): Listener {
  const listener = socket.listeners(event).findLast(isListener);
  if (listener === undefined) throw new Error(`The HTTP server does not listen to "${event}".`);
  socket.removeListener(event, listener);
  return listener;
}

function isListener(value: unknown): value is Listener {
  return typeof value === 'function';
}
