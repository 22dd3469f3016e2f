/** Follows the log: each entry once, in its order, over any number of connections. */
import { isKind, type Kind } from '@open-presence/protocol';

import type { Connection, Query, Signal } from './connection.ts';
import { type EntriesOf, type Entry, entryOf, parseJson } from './entry.ts';
import { readLines } from './lines.ts';
import type { EntryFilters } from './listing.ts';
import { PresenceError } from './presence-error.ts';
import { Deadline, SILENCE_MS } from './waiting.ts';

/** Consecutive cases, by their numbers, as event streams tell them (PROTOCOL.md section 12.6). */
export interface Cases {
  readonly first: number;
  readonly last: number;
  /** The state that all of them have; undefined where it is unknown. */
  readonly state?: 'withheld' | 'hidden' | 'shown';
}

/** Which entries to follow (PROTOCOL.md section 12.3). */
export interface FollowFilters<K extends Kind = Kind> extends EntryFilters<K>, Signal {
  /** A cursor: begins after this entry, 0 for all that was ever said. Without it, begins now. */
  readonly after?: number | undefined;
  /** The log that `after` is from: an error if the gateway has another one by now. */
  readonly log?: string | undefined;
  /**
   * Called once for any number of cases in which something was withheld, hidden or shown again, also for those
   * that were missed between two streams. `Gateway.withholdings` lists them.
   */
  readonly onCases?: ((cases: Cases) => void) | undefined;
  /** Ends after this many entries. */
  readonly limit?: number | undefined;
}

/** Yields the kinds that its filters name, which are all without any. */
export class Follower<K extends Kind = Kind> implements AsyncIterable<EntriesOf<K>> {
  readonly #connection: Connection;
  readonly #query: Query;
  readonly #signal: AbortSignal | undefined;
  readonly #onCases: FollowFilters['onCases'];
  /** The newest case that is known. */
  #lastCase: number | undefined;
  #after: number | undefined;
  #log: string | undefined;
  #left: number;

  constructor(
    connection: Connection,
    { after, log, limit = Number.POSITIVE_INFINITY, signal, onCases, ...filters }: FollowFilters<K>,
    present: Query,
  ) {
    if (limit < 0 || !(Number.isInteger(limit) || limit === Number.POSITIVE_INFINITY))
      throw new PresenceError('invalid-parameter', `"limit" must be a whole number, got ${limit}.`);
    this.#connection = connection;
    this.#query = { ...present, ...filters };
    this.#signal = signal;
    this.#onCases = onCases;
    this.#after = after;
    this.#log = log;
    this.#left = limit;
  }

  /** Where to go on in another process: after the last entry that was given. Undefined before the start. */
  get cursor(): { readonly after: number; readonly log: string } | undefined {
    if (this.#after === undefined || this.#log === undefined) return undefined;
    return { after: this.#after, log: this.#log };
  }

  /**
   * Connects again, until the signal of the filters is aborted, as long as the error is one that may
   * pass. Throws `other-log` if the gateway goes on with another log, whose cursors are others.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<EntriesOf<K>, void> {
    const backoff = this.#connection.backoff(this.#signal);
    while (this.#left > 0) {
      try {
        for await (const entry of this.#stream(() => backoff.reset())) {
          this.#after = entry.seq;
          this.#left -= 1;
          yield entry as EntriesOf<K>;
          if (this.#left === 0) return;
        }
        // A gateway that shuts down ends its streams.
        throw this.#connection.unreachable(new Error('the stream has ended'));
      } catch (error) {
        await backoff.pause(error);
      }
    }
  }

  /** `onAlive`: called for what comes after the beginning, such as the comments of a quiet stream. */
  async *#stream(onAlive: () => void): AsyncGenerator<Entry> {
    const connection = this.#connection;
    const silence = new Deadline(this.#signal, SILENCE_MS, () =>
      connection.unreachable(new Error('the stream is silent')),
    );
    const { signal } = silence;
    try {
      const bytes = connection.bytes(await this.#connect(signal), signal);
      for await (const event of readEvents(bytes, connection.longest)) {
        // Whoever reads may take as long as it likes.
        silence.stop();
        if (event.name !== 'head') onAlive();
        if (event.name === 'head') this.#checkLog(event.data);
        else if (event.name === 'cases') this.#tellCases(parseCases(event.data));
        // Other events are not followed (PROTOCOL.md section 12.1).
        else if (isKind(event.name) && event.data.startsWith('{"id":'))
          yield entryOf({ text: event.data, isCut: event.isCut });
        silence.restart();
      }
    } finally {
      silence.end();
    }
  }

  #connect(signal: AbortSignal): Promise<Response> {
    const cursor: Record<string, string> =
      this.#after === undefined ? {} : { 'Last-Event-ID': String(this.#after) };
    const headers = { Accept: 'text/event-stream', ...cursor };
    return this.#connection.send('/api/events', { query: this.#query, headers, signal });
  }

  #checkLog(data: string): void {
    const { head, log, cases } = parseHead(data);
    const isOther = this.#log === undefined ? (this.#after ?? 0) > head : this.#log !== log;
    if (isOther) {
      const message = `The cursor ${this.#after} is not from the log "${log}", which the gateway has now. Follow that from its beginning (after: 0) or from now on.`;
      throw new PresenceError('other-log', message);
    }
    this.#log = log;
    this.#after ??= head;
    if (this.#lastCase === undefined) this.#lastCase = cases;
    else this.#tellCases({ first: this.#lastCase + 1, last: cases });
  }

  #tellCases(cases: Cases): void {
    if (cases.last <= (this.#lastCase ?? 0)) return;
    this.#lastCase = cases.last;
    this.#onCases?.(cases);
  }
}

interface StreamHead {
  readonly head: number;
  readonly log: string;
  /** How many cases of what was withheld there are; none where the gateway does not say. */
  readonly cases: number;
}

function parseHead(data: string): StreamHead {
  const { head, log, cases } = parseJson(data) as Partial<Record<keyof StreamHead, unknown>>;
  if (typeof head === 'number' && typeof log === 'string')
    return { head, log, cases: typeof cases === 'number' ? cases : 0 };
  const message = `The stream has a head without its members: ${data.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message);
}

function parseCases(text: string): Cases {
  const { first, last, ...others } = parseJson(text) as Cases;
  if (Number.isSafeInteger(first) && Number.isSafeInteger(last)) return { first, last, ...others };
  const message = `The stream has cases without their numbers: ${text.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message);
}

interface StreamEvent {
  /** `message` if the stream names none. */
  readonly name: string;
  readonly data: string;
  /** Whether the data are only the beginning, because the event is longer than was asked for. */
  readonly isCut: boolean;
}

/**
 * Reads an event stream (HTML, "Server-sent events"), with one event in memory at a time. A comment is given as an
 * event without data: a sign that the stream is alive.
 */
async function* readEvents(
  bytes: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<StreamEvent> {
  let event = newEvent();
  for await (const { text, isCut } of readLines(bytes, longest)) {
    if (text === '') {
      if (event.data !== undefined) yield { ...event, data: event.data };
      event = newEvent();
      continue;
    }
    const colon = text.indexOf(':');
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === '') yield { name: '', data: '', isCut: false };
    else if (field === 'event') event.name = value;
    else if (field === 'data') {
      // Of what is longer than was asked for, the beginning is enough.
      if (!event.isCut) event.data = event.data === undefined ? value : `${event.data}\n${value}`;
      event.isCut ||= isCut || (event.data?.length ?? 0) > longest;
    }
  }
}

function newEvent(): { name: string; data?: string; isCut: boolean } {
  return { name: 'message', isCut: false };
}
