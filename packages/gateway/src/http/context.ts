/** What a handler is given: the app, and one request with its answer to be. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { localeOf, type Language, type State, type Locale } from '@open-presence/protocol';

import type { Grammar } from '../intake/grammar.ts';
import type { Log } from '../log/log.ts';
import type { RecentAuthors } from '../presence/recent-authors.ts';
import type { Presence } from '../presence/presence.ts';
import type { EventStreams } from './event-stream.ts';
import type { FanOut } from '../doors/rest/fan-out.ts';
import type { ResponseCache } from './response-cache.ts';

/** Where faults of the gateway itself are told. */
interface Report {
  error(details: object, message: string): void;
}

/** A language, and the bytes that it was read from. */
export interface LoadedLanguage {
  readonly language: Language;
  readonly text: Uint8Array;
}

/** What the door has before the app is awake. */
export interface StartupContext {
  readonly language: Language;
  readonly report: Report;
  /** Where visitors reach the gateway, if the operator says so; without a slash at its end. */
  readonly publicUrl: string | undefined;
  state(): State;
}

export interface AppContext extends StartupContext, LoadedLanguage {
  readonly log: Log;
  readonly grammar: Grammar;
  /** Changes when the language does: part of the tags of answers that use its words. */
  readonly languageHash: string;
  readonly responseCache: ResponseCache;
  /** Whether its door can be reached from this machine alone. */
  readonly loopback: boolean;
  readonly eventStreams: EventStreams;
  readonly fanOut: FanOut;
  readonly presence: Presence;
  readonly recentAuthors: RecentAuthors;
}

export interface RequestContext<Place extends StartupContext = AppContext> {
  readonly app: Place;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The variable parts of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

export type Handler = (context: RequestContext) => void | Promise<void>;

/** Node takes time that grows with the square of how many parameters without `=` it reads at once. */
const AT_ONCE = 4096;

/** The query as it was sent; what cannot be decoded is left as it is. */
export function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const mark = url.indexOf('?');
  const query = mark === -1 ? '' : url.slice(mark + 1);
  if (query.length <= AT_ONCE) return new URLSearchParams(query);
  const whole = new URLSearchParams();
  for (let from = 0; from < query.length;) {
    const end = query.indexOf('&', from + AT_ONCE);
    const to = end === -1 ? query.length : end;
    // The first `?` of what is read would be taken for no part of it.
    const part = new URLSearchParams(`&${query.slice(from, to)}`);
    for (const [name, value] of part) whole.append(name, value);
    from = to + 1;
  }
  return whole;
}

export function localeFor({ headers }: IncomingMessage): Locale | undefined {
  return localeOf(headers['accept-language']);
}

/** Whether nobody waits for the answer any more. */
export function isGone({ response }: Pick<RequestContext, 'response'>): boolean {
  return response.destroyed;
}
