/** What a door states about the paths that it serves. */
import type { Handler, RequestContext, StartupContext } from '../context.ts';
import type { Offer } from '../negotiation.ts';
import type { TakenParameters } from '../parameters/parameter-check.ts';
import type { RouteDescription } from '../route-description.ts';
import type { FastPostHandler } from '../fast/fast-post.ts';

export const EVENT_STREAM = 'text/event-stream';

export type PathParameters = RequestContext['params'];

/** A media type that a path can send, and the handler that sends it. */
export interface Representation<App extends StartupContext> extends Offer {
  readonly handle: Handler<App>;
  /** By name: parameters of the route that have no effect in this representation, and why. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Its parameters, where the route states none that all representations take. */
  readonly taken?: TakenParameters;
  /** Handles requests for this representation before the log is open. By default, the route's handler does. */
  readonly whileStarting?: Handler<StartupContext>;
}

/** What one door serves at a path. Several doors may add representations of the same path. */
export interface Route<App extends StartupContext> {
  /** With its parameters in braces. */
  readonly path: string;
  readonly get: readonly Representation<App>[];
  readonly post?: Handler<App>;
  /** Answers a small `POST` without the objects of `node:http`, if it can. */
  readonly fastPost?: FastPostHandler<App>;
  /** Handles a `POST` from a page: of a form whose sender prefers HTML and names a page. */
  readonly postFromPage?: Handler<App>;
  /** Whether a `GET` stores an entry. */
  readonly storesByGet?: true;
  /** The parameters of `POST`; any, by default. */
  readonly postParameters?: TakenParameters;
  /** Handles `GET`, `HEAD` and `POST` before the log is open. */
  readonly whileStarting?: Handler<StartupContext>;
  readonly description?: RouteDescription;
  /** What to do instead of a method that the path does not take, as a sentence for the error. */
  readonly instead?: (method: string, params: PathParameters) => string | undefined;
}

/** The paths of one protocol. */
export interface Door<App extends StartupContext> {
  readonly routes: readonly Route<App>[];
  /**
   * Handles unknown paths that match, in the form of the door's protocol. With a `type`, only for callers
   * that prefer it to problem details.
   */
  readonly notFound?: {
    readonly paths: RegExp;
    readonly type?: string;
    readonly handle: Handler<App>;
  };
}
