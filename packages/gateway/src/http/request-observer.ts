/** What is observed of requests: for metrics, and for the log of requests. */

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
export const CALLER_LEFT = 499;
