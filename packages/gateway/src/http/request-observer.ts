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
interface ResponseOutcome {
  readonly headersSent: boolean;
  readonly statusCode: number;
  readonly writableFinished: boolean;
}

/** Observes one request, from the end of its head on. */
export class Observation {
  /** What answers it. */
  route: RouteName = NO_ROUTE;
  readonly #socket: Socket;
  readonly #finished: FinishedCallback;
  readonly #startedAt = performance.now();
  readonly #sentBefore: number;
  /** The status that was written in place of a response. */
  #written: number | undefined;

  constructor(socket: Socket, finished: FinishedCallback) {
    this.#socket = socket;
    this.#finished = finished;
    this.#sentBefore = socket.bytesWritten;
  }

  /** To be called with a status that is written in place of the response. */
  wrote(status: number): void {
    this.#written = status;
  }

  /** `response`: undefined if the caller has left before there was one. */
  finish(method: string, response?: ResponseOutcome): void {
    const status = response?.headersSent === true ? response.statusCode : CALLER_LEFT;
    this.#finished(
      {
        method,
        route: this.route,
        status: this.#written ?? status,
        isAborted: this.#written === undefined && response?.writableFinished !== true,
        durationMs: this.route === MALFORMED ? 0 : performance.now() - this.#startedAt,
        bytesSent: this.#socket.bytesWritten - this.#sentBefore,
      },
      this.#socket,
    );
  }

  finishMalformed(status: number): void {
    this.route = MALFORMED;
    this.#written = status;
    this.finish('other');
  }
}
