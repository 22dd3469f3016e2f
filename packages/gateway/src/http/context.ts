/**
 * What HTTP handlers are given: one request with its answer to be, and the part of the gateway that
 * the toolkit itself needs. Doors extend `HttpContext` with what they serve.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { localeOf, type Language, type Locale, type State } from '@open-presence/protocol';

import type { EventStreams } from './event-stream.ts';
import type { ResponseCache } from './response-cache.ts';

/** Where faults of the gateway itself are reported. */
interface Report {
  error(details: object, message: string): void;
}

/** What is known before the log is open. */
export interface StartupContext {
  readonly language: Language;
  readonly report: Report;
  /** Where visitors reach the gateway, if the operator says so; without a slash at its end. */
  readonly publicUrl: string | undefined;
  state(): State;
}

/** What the listener provides to handlers once the log is open. */
export interface HttpServices {
  readonly responseCache: ResponseCache;
  readonly eventStreams: EventStreams;
  /** Aborted when the gateway stops: whatever waits for new entries ends then. */
  readonly shutdown: AbortSignal;
  /** Whether the listener can be reached from this machine alone. */
  readonly loopback: boolean;
  /** The paths that there are. */
  readonly routes: readonly RouteSummary[];
}

/** A path, with its variable parts in braces, and the methods that it takes. */
export interface RouteSummary {
  readonly path: string;
  readonly methods: readonly string[];
}

export interface HttpContext extends StartupContext, HttpServices {}

export interface RequestContext<App extends StartupContext = HttpContext> {
  readonly app: App;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The variable parts of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

export type Handler<App extends StartupContext = HttpContext> = (
  context: RequestContext<App>,
) => void | Promise<void>;

/** Longest query, in characters, that is parsed in one go: `URLSearchParams` is quadratic in parameters without `=`. */
const PARSED_AT_ONCE = 4096;

/** The query as it was sent; escapes that cannot be decoded are left as they are. */
export function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const mark = url.indexOf('?');
  const query = mark === -1 ? '' : url.slice(mark + 1);
  if (query.length <= PARSED_AT_ONCE) return new URLSearchParams(query);
  const parameters = new URLSearchParams();
  for (let from = 0; from < query.length;) {
    const end = query.indexOf('&', from + PARSED_AT_ONCE);
    const to = end === -1 ? query.length : end;
    // The parser drops a leading `?`, which may be part of a name here.
    const part = new URLSearchParams(`&${query.slice(from, to)}`);
    for (const [name, value] of part) parameters.append(name, value);
    from = to + 1;
  }
  return parameters;
}

/** The locale that the caller prefers, or undefined where it has no preference. */
export function localeFor({ headers }: IncomingMessage): Locale | undefined {
  return localeOf(headers['accept-language']);
}

/** Whether the caller has left, so that no answer can be sent. */
export function isDisconnected({ response }: Pick<RequestContext, 'response'>): boolean {
  return response.destroyed;
}

/** A signal that is aborted when the caller leaves or the gateway stops. */
export function abortOnDisconnect({
  app,
  response,
}: Pick<RequestContext, 'app' | 'response'>): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  response.once('close', abort);
  app.shutdown.addEventListener('abort', abort);
  if (response.destroyed || app.shutdown.aborted) abort();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      response.off('close', abort);
      app.shutdown.removeEventListener('abort', abort);
    },
  };
}
