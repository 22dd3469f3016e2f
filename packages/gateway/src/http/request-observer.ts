/** What is observed of requests: for metrics, and for the log of requests. */
import type { Socket } from 'node:net';

/** What answers a request. */
export interface RouteName {
  /** With its parameters in braces. */
  readonly path: string;
  readonly door: string | undefined;
}

/** Stands for paths that do not exist, or do not take the method. */
export const NO_ROUTE: RouteName = { path: 'unmatched', door: undefined };

/** Stands for what is not HTTP, and for methods that Node's parser does not know. */
export const MALFORMED: RouteName = { path: 'malformed', door: undefined };

/** A request whose response has ended. Has nothing that its caller chose freely. */
export interface FinishedRequest {
  /** One that Node's parser knows; `other` for one that it does not. */
  readonly method: string;
  readonly route: RouteName;
  /** `CALLER_LEFT` where the caller disconnected before there was one. */
  readonly status: number;
  readonly isStream: boolean;
  /** Whether the caller disconnected before the end of the response. Readers end streams so. */
  readonly isAborted: boolean;
  /** From the end of the request's head on. */
  readonly durationMs: number;
  /** With headers. */
  readonly bytesSent: number;
}

export type RequestObserver = (request: FinishedRequest) => void;

/** As nginx counts a request whose caller left before a status was sent. */
const CALLER_LEFT = 499;

/** Called once for each request, when its response has ended. */
export type FinishedCallback = (request: Omit<FinishedRequest, 'isStream'>, socket: Socket) => void;

/** What is known of a response in the end. */
export interface ResponseOutcome {
  readonly headersSent: boolean;
  readonly statusCode: number;
  readonly writableFinished: boolean;
}

/** Observes the requests of a connection, one after another. */
export class ConnectionObserver {
  readonly #socket: Socket;
  readonly #finished: FinishedCallback;
  /** What answers the request. */
  #route = NO_ROUTE;
  /** The status that was written past `node:http`; 0 if there was none. */
  #rawStatus = 0;
  #startedAt = 0;
  #sentBefore = 0;

  constructor(socket: Socket, finished: FinishedCallback) {
    this.#socket = socket;
    this.#finished = finished;
  }

  /** To be called at the end of the request's head. */
  start(): void {
    this.#route = NO_ROUTE;
    this.#rawStatus = 0;
    this.#startedAt = performance.now();
    this.#sentBefore = this.#socket.bytesWritten;
  }

  answeredBy(route: RouteName): void {
    this.#route = route;
  }

  /** To be called with a status that is written past `node:http`. */
  wrote(status: number): void {
    this.#rawStatus = status;
  }

  /** `response`: undefined for a simple request. */
  finish(method: string, response: ResponseOutcome | undefined, route = this.#route): void {
    const isRaw = this.#rawStatus > 0;
    const status = response?.headersSent === true ? response.statusCode : CALLER_LEFT;
    this.#finished(
      {
        method,
        route,
        status: isRaw ? this.#rawStatus : status,
        isAborted: !isRaw && response?.writableFinished !== true,
        durationMs: route === MALFORMED ? 0 : performance.now() - this.#startedAt,
        bytesSent: this.#socket.bytesWritten - this.#sentBefore,
      },
      this.#socket,
    );
    this.#rawStatus = 0;
    this.#sentBefore = this.#socket.bytesWritten;
  }
}
