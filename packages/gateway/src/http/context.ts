/**
 * What a handler receives: the request, its response, and the part of the gateway that the toolkit
 * needs. Doors extend `HttpContext` with what they serve.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { localeOf, type Language, type Locale, type State } from '@open-presence/protocol';

import { callerEnded } from '../ended-callers.ts';
import { disconnectSilentAtEnd } from './connection/disconnect-at-end.ts';
import type { RepeatedGets } from './fast/repeated-gets.ts';
import type { EventStreams } from './response/event-stream.ts';
import type { ResponseCache } from './response/response-cache.ts';
import type { DescribedRoute } from './route-description.ts';
import type { Shutdown } from './connection/shutdown.ts';

/** Receives the gateway's own failures. */
interface Report {
  error(details: object, message: string): void;
}

/** What handlers can use before the log is open. */
export interface StartupContext {
  readonly language: Language;
  readonly report: Report;
  /** The public address, if the operator set one; without a trailing slash. */
  readonly publicUrl: string | undefined;
  state(): State;
  /** Why the owner lets nothing be stored; undefined while entries are stored. */
  readOnly(): string | undefined;
}

/** What the listener provides to handlers once the log is open. */
export interface HttpServices {
  readonly responseCache: ResponseCache;
  readonly repeatedGets: RepeatedGets;
  readonly eventStreams: EventStreams;
  readonly shutdown: Shutdown;
  /** What all doors serve, in the order of the doors. */
  readonly routes: readonly DescribedRoute[];
}

export interface HttpContext extends StartupContext, HttpServices {
  /** On the disk of the data: the folder for temporary files of the system may be in memory. */
  readonly temporaryFolder: string;
}

export interface RequestContext<App extends StartupContext = HttpContext> {
  readonly app: App;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path parameters, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

export type Handler<App extends StartupContext = HttpContext> = (
  context: RequestContext<App>,
) => void | Promise<void>;

/** The locale that the caller prefers, or undefined where it has no preference. */
export function localeFor({ headers }: IncomingMessage): Locale | undefined {
  return localeOf(headers['accept-language']);
}

/** Whether the caller has disconnected, so that no response can be sent. */
export function isDisconnected({ response }: Pick<RequestContext, 'response'>): boolean {
  return response.destroyed;
}

/**
 * A signal that is aborted when the caller disconnects or cancels, or when the gateway stops. For requests that wait.
 * It is the one that `onCallerEnded` knows.
 */
export function abortOnDisconnect(
  { app, response }: Pick<RequestContext, 'app' | 'response'>,
  cancelled?: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  response.once('close', abort);
  cancelled?.addEventListener('abort', abort);
  disconnectSilentAtEnd(response, () => callerEnded(controller.signal));
  app.shutdown.add(controller);
  if (response.destroyed || cancelled?.aborted === true) abort();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      response.off('close', abort);
      cancelled?.removeEventListener('abort', abort);
      app.shutdown.remove(controller);
    },
  };
}
