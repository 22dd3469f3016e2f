/**
 * Who is here now (PROTOCOL.md section 13).
 *
 * Owns what this thread and the others of its gateway know of present visitors: open event streams,
 * and recent requests that named their visitor. Knows neither HTTP nor entries: `recent-authors.ts`
 * reads those from the log. Upholds:
 * - a visitor is present once, by however many streams and requests, in whichever threads.
 * - listeners get every arrival and every departure once.
 * - the memory for requests is bounded.
 */
import {
  OtherThreads,
  type PresenceMessage,
  type RequestPresence,
  type StreamPresence,
} from './other-threads.ts';

/** A visitor who has named itself. */
export interface Visitor {
  readonly identity: string;
  /** Slug of an existing room. */
  readonly room: string | undefined;
}

export interface PresenceChange {
  readonly identity: string;
  readonly state: 'here' | 'gone';
  readonly room: string | undefined;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Times are milliseconds since 1970. */
export interface PresentVisitor {
  readonly identity: string;
  readonly via: 'stream' | 'request';
  readonly room: string | undefined;
  readonly since: number;
  /** For a stream: now. */
  readonly lastSeen: number;
  /** Undefined for a stream. */
  readonly until: number | undefined;
}

/** How long a visitor is present after a request. */
const REQUEST_TTL_MS = 5 * 60_000;
/** Maximum number of visitors by requests, and of characters of their names together. */
const MAX_REQUESTS = 65_536;
const MAX_REQUESTS_LENGTH = 16 * 1024 * 1024;
/** Visitors collected before the newest few of them are selected. */
const SELECTION_BATCH = 1024;

/** A visitor by all its streams. */
type MergedStreams = Pick<StreamPresence, 'identity' | 'room' | 'since'>;
type Listener = (change: PresenceChange) => void;

export class Presence implements Disposable {
  readonly #requestTtlMs: number;
  readonly #others: OtherThreads;
  readonly #listeners = new Set<Listener>();
  /** By identity, then by thread and number. */
  readonly #streams = new Map<string, Map<string, StreamPresence>>();
  /** By identity, the least recently seen first. */
  readonly #requests = new Map<string, RequestPresence>();
  /** Of the names in `#requests`. */
  #requestsLength = 0;
  #lastNumber = 0;
  #expiry: NodeJS.Timeout | undefined;

  /** `channel`: a name that the threads of one gateway share, and no other gateway has. */
  constructor(channel?: string, requestTtlMs: number = REQUEST_TTL_MS) {
    this.#requestTtlMs = requestTtlMs;
    this.#others = new OtherThreads(channel, (from, message) => this.#receive(from, message));
    this.#others.send({ type: 'join' });
  }

  /** Dispose of the result, once or more often, when the stream is closed. */
  openStream({ identity, room }: Visitor): Disposable {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const stream = { identity: copyOf(identity), room, since: Date.now(), number };
    this.#addStream(OWN_THREAD, stream);
    this.#others.send({ type: 'stream opened', stream });
    return {
      [Symbol.dispose]: () => {
        if (this.#removeStream(OWN_THREAD, stream))
          this.#others.send({ type: 'stream closed', stream });
      },
    };
  }

  recordRequest({ identity, room }: Visitor): void {
    const now = Date.now();
    const request = this.#addRequest({ identity, room, since: now, lastSeen: now });
    this.#others.send({ type: 'request', request });
  }

  /** The newest arrival first. */
  list(limit: number = Infinity): PresentVisitor[] {
    const now = Date.now();
    this.#removeExpired(now);
    let visitors: (RequestPresence | MergedStreams)[] = [];
    const add = (visitor: RequestPresence | MergedStreams): void => {
      if (visitors.push(visitor) >= 2 * limit + SELECTION_BATCH) visitors = newest(visitors, limit);
    };
    for (const request of this.#requests.values()) {
      if (!this.#streams.has(request.identity)) add(request);
    }
    for (const streams of this.#streams.values()) add(merge(streams));
    return newest(visitors, limit)
      .toReversed()
      .map((visitor) =>
        'lastSeen' in visitor
          ? { ...visitor, via: 'request', until: visitor.lastSeen + this.#requestTtlMs }
          : { ...visitor, via: 'stream', lastSeen: now, until: undefined },
      );
  }

  /** Calls back when a visitor arrives or goes. The listener must not throw. */
  watch(listener: Listener): Disposable {
    // A wrapper, so that a listener that is added twice is called twice.
    const own: Listener = (change) => listener(change);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  [Symbol.dispose](): void {
    this.#others[Symbol.dispose]();
    this.#listeners.clear();
    this.#streams.clear();
    this.#requests.clear();
    clearTimeout(this.#expiry);
  }

  #receive(from: string, message: PresenceMessage): void {
    switch (message.type) {
      case 'join':
        return this.#sendAll();
      case 'stream opened':
        return this.#addStream(from, message.stream);
      case 'stream closed':
        return void this.#removeStream(from, message.stream);
      case 'request':
        return void this.#addRequest(message.request);
      case 'leave':
        return this.#removeThread(from);
    }
  }

  /** Requests may be of any thread; streams are sent by their own thread alone. */
  #sendAll(): void {
    for (const streams of this.#streams.values()) {
      for (const [key, stream] of streams) {
        if (key === streamKey(OWN_THREAD, stream))
          this.#others.send({ type: 'stream opened', stream });
      }
    }
    for (const request of this.#requests.values()) this.#others.send({ type: 'request', request });
  }

  #addStream(thread: string, stream: StreamPresence): void {
    this.#removeExpired(Date.now());
    const { identity, room, since } = stream;
    const isNew = !this.#isHere(identity);
    const streams = this.#streams.get(identity) ?? new Map<string, StreamPresence>();
    this.#streams.set(identity, streams.set(streamKey(thread, stream), stream));
    if (isNew) this.#emit({ identity, state: 'here', room, time: since });
  }

  /** Returns whether the stream was there. */
  #removeStream(thread: string, stream: StreamPresence): boolean {
    const now = Date.now();
    this.#removeExpired(now);
    const { identity, room } = stream;
    const streams = this.#streams.get(identity);
    if (streams?.delete(streamKey(thread, stream)) !== true) return false;
    if (streams.size === 0) this.#streams.delete(identity);
    if (!this.#isHere(identity)) this.#emit({ identity, state: 'gone', room, time: now });
    return true;
  }

  #removeThread(thread: string): void {
    for (const streams of this.#streams.values()) {
      for (const [key, stream] of streams) {
        if (key === streamKey(thread, stream)) this.#removeStream(thread, stream);
      }
    }
  }

  /** Returns the request merged with the earlier ones of the visitor. */
  #addRequest(request: RequestPresence): RequestPresence {
    const now = Date.now();
    this.#removeExpired(now);
    if (request.lastSeen + this.#requestTtlMs <= now) return request;
    const earlier = this.#requests.get(request.identity);
    const isNew = !this.#isHere(request.identity);
    const merged =
      earlier === undefined
        ? { ...request, identity: copyOf(request.identity) }
        : mergeRequests(earlier, request);
    // Deleted first, so that it moves to the end of the map.
    if (earlier === undefined) this.#requestsLength += merged.identity.length;
    else this.#requests.delete(earlier.identity);
    this.#requests.set(merged.identity, merged);
    if (isNew) {
      const { identity, room, since } = merged;
      this.#emit({ identity, state: 'here', room, time: since });
    }
    this.#evict(now);
    this.#scheduleExpiry(now);
    return merged;
  }

  /** Removes the least recently seen visitors beyond the limits, but not the last one. */
  #evict(now: number): void {
    for (const oldest of this.#requests.values()) {
      const fits =
        this.#requests.size <= MAX_REQUESTS && this.#requestsLength <= MAX_REQUESTS_LENGTH;
      if (fits || this.#requests.size === 1) return;
      this.#removeRequest(oldest, now);
    }
  }

  #removeExpired(now: number): void {
    for (const request of this.#requests.values()) {
      const until = request.lastSeen + this.#requestTtlMs;
      if (until > now) return;
      this.#removeRequest(request, until);
    }
  }

  #removeRequest({ identity, room }: RequestPresence, time: number): void {
    this.#requests.delete(identity);
    this.#requestsLength -= identity.length;
    if (!this.#isHere(identity)) this.#emit({ identity, state: 'gone', room, time });
  }

  #scheduleExpiry(now: number): void {
    if (this.#expiry !== undefined) return;
    const [oldest] = this.#requests.values();
    if (oldest === undefined) return;
    // Limited, so that a clock that is set back does not extend it.
    const delay = Math.min(oldest.lastSeen + this.#requestTtlMs - now, this.#requestTtlMs);
    this.#expiry = setTimeout(() => {
      this.#expiry = undefined;
      const now = Date.now();
      this.#removeExpired(now);
      this.#scheduleExpiry(now);
    }, delay).unref();
  }

  #isHere(identity: string): boolean {
    return this.#streams.has(identity) || this.#requests.has(identity);
  }

  #emit(change: PresenceChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

const OWN_THREAD = '';

function streamKey(thread: string, { number }: StreamPresence): string {
  return `${thread} ${number}`;
}

/** The newest `limit`, oldest first. Of the same millisecond, the later one in the list is newer. */
function newest<T extends MergedStreams>(visitors: readonly T[], limit: number): T[] {
  const sorted = visitors.toSorted((a, b) => a.since - b.since);
  return sorted.slice(Math.max(0, sorted.length - limit));
}

/** Present since the first stream, in the room of the newest. */
function merge(streams: ReadonlyMap<string, StreamPresence>): MergedStreams {
  let [first] = streams.values();
  let last = first;
  for (const stream of streams.values()) {
    if (stream.since < (first?.since ?? 0)) first = stream;
    if (stream.since >= (last?.since ?? 0)) last = stream;
  }
  if (first === undefined || last === undefined) throw new Error('A visitor has no stream.');
  return { identity: first.identity, room: last.room, since: first.since };
}

/** Requests of several threads may arrive in any order. */
function mergeRequests(earlier: RequestPresence, request: RequestPresence): RequestPresence {
  const { room, lastSeen } = request.lastSeen < earlier.lastSeen ? earlier : request;
  const since = Math.min(earlier.since, request.since);
  return { identity: earlier.identity, room, since, lastSeen };
}

/** A slice of a URL would keep the whole URL in memory. */
function copyOf(identity: string): string {
  return Buffer.from(identity).toString();
}
