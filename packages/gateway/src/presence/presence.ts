/**
 * Who is here now (PROTOCOL.md section 13).
 *
 * Owns what this thread and the others of its gateway know of present visitors: open event streams,
 * and recent requests that named their visitor. Knows neither HTTP nor entries: `recent-authors.ts`
 * reads those from the log. Upholds:
 * - listeners get every arrival and every departure once.
 * - the memory for requests is bounded.
 * - a clock that is set neither makes anybody stay nor leave.
 *
 * Invariant: A visitor is present once, by however many streams and requests in whichever threads,
 *   and leaves once.
 * Test: `packages/gateway/src/presence/presence.test.ts` “is one presence, wherever its streams and
 *   requests are” “ends with the thread that had the stream; its requests stay”
 */
import { randomUUID } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';

import { type HiddenNames, NONE_HIDDEN } from './hidden-names.ts';
import {
  OtherThreads,
  type PresenceMessage,
  type RequestPresence,
  type StreamPresence,
  type Visitor,
} from './other-threads.ts';

import { machineTime, steadyNow } from './steady-clock.ts';

export type { Visitor } from './other-threads.ts';

export interface PresenceChange extends Visitor {
  readonly state: 'here' | 'gone';
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Times are milliseconds since 1970. */
export interface PresentVisitor extends Visitor {
  readonly via: 'stream' | 'request';
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

type MergedStreams = Omit<StreamPresence, 'id'>;
type Listener = (change: PresenceChange) => void;

export class Presence implements Disposable {
  readonly #requestTtlMs: number;
  readonly #thread = randomUUID();
  readonly #others: OtherThreads;
  readonly #listeners = new Set<Listener>();
  /** By identity, then by id. */
  readonly #streams = new Map<string, Map<string, StreamPresence>>();
  /** By identity, the least recently seen first. */
  readonly #requests = new Map<string, RequestPresence>();
  #requestsLength = 0;
  #hidden = NONE_HIDDEN;
  #hiddenNames: ReadonlySet<string> = new Set();
  /** Called when another thread or gateway has hidden or shown names. */
  onHidden: (hidden: HiddenNames) => void = () => {};
  #lastNumber = 0;
  #version = 0;
  #expiry: NodeJS.Timeout | undefined;

  /** `port`: of the hub of the gateway's threads, if there are others. */
  constructor(port?: MessagePort, requestTtlMs: number = REQUEST_TTL_MS) {
    this.#requestTtlMs = requestTtlMs;
    this.#others = new OtherThreads(port, (message) => this.#receive(message));
    this.#others.send({ type: 'join' });
  }

  /** Dispose of the result, once or more often, when the stream is closed. */
  openStream({ identity, room }: Visitor): Disposable {
    this.#lastNumber += 1;
    const id = this.#thread + this.#lastNumber;
    const stream = { identity: copyOf(identity), room, since: steadyNow(), id };
    this.#addStream(stream);
    this.#others.send({ type: 'stream opened', stream });
    return {
      [Symbol.dispose]: () => {
        if (this.#removeStream(stream)) this.#others.send({ type: 'stream closed', stream });
      },
    };
  }

  recordRequest({ identity, room }: Visitor): void {
    const now = steadyNow();
    const request = this.#addRequest({ identity, room, since: now, lastSeen: now });
    this.#others.send({ type: 'request', request });
  }

  get hidden(): HiddenNames {
    return this.#hidden;
  }

  isHidden(identity: string | undefined): boolean {
    return identity !== undefined && this.#hiddenNames.has(identity);
  }

  has(identity: string): boolean {
    return this.#requests.has(identity) || this.#streams.has(identity);
  }

  /** From now on, in all threads. Whoever is hidden seems to go, and streams stay open. */
  hide(hidden: HiddenNames): void {
    this.#takeHidden(hidden);
    this.#others.send({ type: 'hidden', hidden });
  }

  /** Differs once a visitor has arrived, has gone or is in another room. */
  get version(): number {
    this.#removeExpired(steadyNow());
    return this.#version;
  }

  countByRoom(): ReadonlyMap<string | undefined, number> {
    const counts = new Map<string | undefined, number>();
    const add = (room: string | undefined): void =>
      void counts.set(room, (counts.get(room) ?? 0) + 1);
    this.#removeExpired(steadyNow());
    for (const { identity, room } of this.#requests.values()) {
      if (!this.#streams.has(identity) && !this.isHidden(identity)) add(room);
    }
    for (const [identity, streams] of this.#streams)
      if (!this.isHidden(identity)) add(merge(streams).room);
    return counts;
  }

  /** The newest arrival first. */
  list(limit: number = Infinity): PresentVisitor[] {
    const now = steadyNow();
    this.#removeExpired(now);
    let visitors: (RequestPresence | MergedStreams)[] = [];
    const add = (visitor: RequestPresence | MergedStreams): void => {
      if (visitors.push(visitor) >= 2 * limit + SELECTION_BATCH) visitors = newest(visitors, limit);
    };
    for (const request of this.#requests.values()) {
      const { identity } = request;
      if (!this.#streams.has(identity) && !this.isHidden(identity)) add(request);
    }
    for (const [identity, streams] of this.#streams)
      if (!this.isHidden(identity)) add(merge(streams));
    return newest(visitors, limit)
      .toReversed()
      .map((visitor) => this.#presentVisitor(visitor, now));
  }

  /** Calls back when a visitor arrives or goes. The listener must not throw, and is added once. */
  watch(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#others.close({ type: 'leave', thread: this.#thread });
    this.#listeners.clear();
    this.#streams.clear();
    this.#requests.clear();
    clearTimeout(this.#expiry);
  }

  #receive(message: PresenceMessage): void {
    switch (message.type) {
      case 'join':
        if (this.#hidden.at > 0) this.#others.send({ type: 'hidden', hidden: this.#hidden });
        // Requests may be of any thread; streams are sent by their own thread alone.
        for (const stream of this.#streamsOf(this.#thread))
          this.#others.send({ type: 'stream opened', stream });
        for (const request of this.#requests.values())
          this.#others.send({ type: 'request', request });
        return;
      case 'hidden':
        if (message.hidden.at <= this.#hidden.at) return;
        this.#takeHidden(message.hidden);
        return this.onHidden(message.hidden);
      case 'stream opened':
        return this.#addStream(message.stream);
      case 'stream closed':
        return void this.#removeStream(message.stream);
      case 'request':
        return void this.#addRequest(message.request);
      case 'leave':
        for (const stream of this.#streamsOf(message.thread)) this.#removeStream(stream);
    }
  }

  #takeHidden(hidden: HiddenNames): void {
    const before = this.#hiddenNames;
    const after = new Set(hidden.names);
    const changed = [...before.symmetricDifference(after)].filter((name) => this.has(name));
    const time = steadyNow();
    this.#hidden = hidden;
    // Those who go are told of before they are hidden, those who come after they are shown.
    for (const isShown of [false, true]) {
      for (const identity of changed) {
        if (after.has(identity) === isShown) continue;
        const { room } = this.#requests.get(identity) ?? {};
        this.#emit({ identity, state: isShown ? 'here' : 'gone', room, time });
      }
      this.#hiddenNames = after;
    }
    this.#version += 1;
  }

  *#streamsOf(thread: string): Generator<StreamPresence> {
    for (const streams of this.#streams.values()) {
      for (const stream of streams.values()) if (stream.id.startsWith(thread)) yield stream;
    }
  }

  #addStream(stream: StreamPresence): void {
    this.#removeExpired(steadyNow());
    const { identity, room, since, id } = stream;
    const isNew = !this.has(identity);
    const streams = this.#streams.get(identity) ?? new Map<string, StreamPresence>();
    this.#streams.set(identity, streams.set(id, stream));
    this.#version += 1;
    if (isNew) this.#emit({ identity, state: 'here', room, time: since });
  }

  /** Returns whether the stream was there. */
  #removeStream({ identity, room, id }: StreamPresence): boolean {
    const now = steadyNow();
    this.#removeExpired(now);
    const streams = this.#streams.get(identity);
    if (streams?.delete(id) !== true) return false;
    if (streams.size === 0) this.#streams.delete(identity);
    this.#version += 1;
    this.#emitIfGone({ identity, room }, now);
    return true;
  }

  /** Returns the request merged with the earlier ones of the visitor. */
  #addRequest(request: RequestPresence): RequestPresence {
    const now = steadyNow();
    this.#removeExpired(now);
    if (request.lastSeen + this.#requestTtlMs <= now) return request;
    const earlier = this.#requests.get(request.identity);
    const isNew = !this.has(request.identity);
    const merged =
      earlier === undefined
        ? { ...request, identity: copyOf(request.identity) }
        : mergeRequests(earlier, request);
    const { identity, room, since } = merged;
    // Deleted first, so that it moves to the end of the map.
    if (!this.#requests.delete(identity)) this.#requestsLength += identity.length;
    this.#requests.set(identity, merged);
    if (earlier?.room !== room) this.#version += 1;
    if (isNew) this.#emit({ identity, state: 'here', room, time: since });
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
    this.#emitIfGone({ identity, room }, time);
  }

  #scheduleExpiry(now: number): void {
    if (this.#expiry !== undefined) return;
    const [oldest] = this.#requests.values();
    if (oldest === undefined) return;
    const delay = oldest.lastSeen + this.#requestTtlMs - now;
    this.#expiry = setTimeout(() => {
      this.#expiry = undefined;
      const now = steadyNow();
      this.#removeExpired(now);
      this.#scheduleExpiry(now);
    }, delay).unref();
  }

  #presentVisitor(visitor: RequestPresence | MergedStreams, now: number): PresentVisitor {
    const { identity, room } = visitor;
    const isRequest = 'lastSeen' in visitor;
    const since = machineTime(visitor.since);
    const lastSeen = machineTime(isRequest ? visitor.lastSeen : now);
    const until = isRequest ? lastSeen + this.#requestTtlMs : undefined;
    return { identity, room, via: isRequest ? 'request' : 'stream', since, lastSeen, until };
  }

  #emitIfGone(visitor: Visitor, time: number): void {
    if (!this.has(visitor.identity)) this.#emit({ ...visitor, state: 'gone', time });
  }

  /** `change`: with a time of the steady clock. */
  #emit(change: PresenceChange): void {
    this.#version += 1;
    if (this.isHidden(change.identity)) return;
    const time = machineTime(change.time);
    for (const listener of this.#listeners) listener({ ...change, time });
  }
}

/** The newest `limit`, oldest first. Within a millisecond, the later one in the list is newer. */
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
