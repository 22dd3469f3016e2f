/**
 * Who is here now (PROTOCOL.md section 13).
 *
 * Owns what this thread and the others of its gateway know of visitors who are present: event
 * streams that are open, and requests that named their visitor, for as long as these count. Refuses
 * to know HTTP and what was said: who spoke is read from the log (`lately.ts`). Upholds that a
 * visitor is here once, by however many streams and requests, whichever threads have them; that
 * every arrival and every departure is told once; and that requests are remembered in flat memory.
 */
import {
  OtherThreads,
  type PresenceMessage,
  type RequestPresence,
  type StreamPresence,
} from './other-threads.ts';

/** A visitor who said who reads. */
export interface Visitor {
  readonly identity: string;
  /** Slug of a room that exists. */
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
  /** By a stream: now. */
  readonly lastSeen: number;
  /** A stream has no end that is known. */
  readonly until: number | undefined;
}

/** How long a request makes its visitor present. */
const STAYS_MS = 5 * 60_000;
/** So many visitors are remembered by their requests, those seen last. */
const REMEMBERED = 65_536;
/** Characters that their names may take together, since one name may have millions. */
const REMEMBERED_LENGTH = 16 * 1024 * 1024;

/** Those who are here are sorted by so many at least, where few of them are wanted. */
const SORTED_TOGETHER = 1024;

/** A visitor by all its streams. */
type Streaming = Pick<StreamPresence, 'identity' | 'room' | 'since'>;
type Listener = (change: PresenceChange) => void;

export class Presence implements Disposable {
  readonly #stays: number;
  readonly #others: OtherThreads;
  readonly #listeners = new Set<Listener>();
  /** By identity, then by thread and number. */
  readonly #streams = new Map<string, Map<string, StreamPresence>>();
  /** By identity, in the order in which they were seen. */
  readonly #requests = new Map<string, RequestPresence>();
  /** Of the names of `#requests`. */
  #length = 0;
  #opened = 0;
  #expiry: NodeJS.Timeout | undefined;

  /** `channel`: a name that the threads of one gateway share, and no other gateway. */
  constructor(channel?: string, staysMs: number = STAYS_MS) {
    this.#stays = staysMs;
    this.#others = new OtherThreads(channel, (from, news) => this.#hear(from, news));
    this.#others.tell({ what: 'who' });
  }

  /** An event stream opens. Disposing of the result, once or more often, says that it is closed. */
  openStream({ identity, room }: Visitor): Disposable {
    this.#opened += 1;
    const since = Date.now();
    const stream = { identity: kept(identity), room, since, number: this.#opened };
    this.#entered(OURS, stream);
    this.#others.tell({ what: 'entered', stream });
    return {
      [Symbol.dispose]: () => {
        if (this.#left(OURS, stream)) this.#others.tell({ what: 'left', stream });
      },
    };
  }

  /** A request named its visitor. */
  recordRequest({ identity, room }: Visitor): void {
    const now = Date.now();
    const seen = this.#see({ identity, room, since: now, lastSeen: now });
    this.#others.tell({ what: 'saw', seen });
  }

  /** Newest arrival first, as it is now; at most so many. */
  list(most: number = Infinity): PresentVisitor[] {
    const now = Date.now();
    this.#sweep(now);
    let arrived: (RequestPresence | Streaming)[] = [];
    const add = (one: RequestPresence | Streaming): void => {
      if (arrived.push(one) >= 2 * most + SORTED_TOGETHER) arrived = newest(arrived, most);
    };
    for (const seen of this.#requests.values()) if (!this.#streams.has(seen.identity)) add(seen);
    for (const streams of this.#streams.values()) add(together(streams));
    return newest(arrived, most)
      .toReversed()
      .map((one) => {
        if (!('lastSeen' in one)) return { ...one, via: 'stream', lastSeen: now, until: undefined };
        return { ...one, via: 'request', until: one.lastSeen + this.#stays };
      });
  }

  /** Tells of each visitor who arrives or goes from now on. The listener must not throw. */
  watch(listener: Listener): Disposable {
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

  #hear(from: string, news: PresenceMessage): void {
    switch (news.what) {
      case 'who':
        return this.#answer();
      case 'entered':
        return this.#entered(from, news.stream);
      case 'left':
        return void this.#left(from, news.stream);
      case 'saw':
        return void this.#see(news.seen);
      case 'over':
        return this.#over(from);
    }
  }

  /** Tells what this thread has. Streams are told by their own thread alone. */
  #answer(): void {
    for (const streams of this.#streams.values()) {
      for (const [key, stream] of streams) {
        if (key === keyOf(OURS, stream)) this.#others.tell({ what: 'entered', stream });
      }
    }
    for (const seen of this.#requests.values()) this.#others.tell({ what: 'saw', seen });
  }

  #entered(from: string, stream: StreamPresence): void {
    this.#sweep(Date.now());
    const { identity, room, since } = stream;
    const isNew = !this.#isHere(identity);
    const streams = this.#streams.get(identity) ?? new Map<string, StreamPresence>();
    this.#streams.set(identity, streams.set(keyOf(from, stream), stream));
    if (isNew) this.#tell({ identity, state: 'here', room, time: since });
  }

  /** Whether it was there. */
  #left(from: string, stream: StreamPresence): boolean {
    const now = Date.now();
    this.#sweep(now);
    const { identity, room } = stream;
    const streams = this.#streams.get(identity);
    if (streams?.delete(keyOf(from, stream)) !== true) return false;
    if (streams.size === 0) this.#streams.delete(identity);
    if (!this.#isHere(identity)) this.#tell({ identity, state: 'gone', room, time: now });
    return true;
  }

  #over(from: string): void {
    for (const streams of this.#streams.values()) {
      for (const [key, stream] of streams) {
        if (key === keyOf(from, stream)) this.#left(from, stream);
      }
    }
  }

  /** What is now known of the visitor. */
  #see(seen: RequestPresence): RequestPresence {
    const now = Date.now();
    this.#sweep(now);
    if (seen.lastSeen + this.#stays <= now) return seen;
    const known = this.#requests.get(seen.identity);
    const isNew = !this.#isHere(seen.identity);
    const merged =
      known === undefined ? { ...seen, identity: kept(seen.identity) } : later(known, seen);
    // Put behind those who were seen before.
    if (known === undefined) this.#length += merged.identity.length;
    else this.#requests.delete(known.identity);
    this.#requests.set(merged.identity, merged);
    if (isNew) {
      const { identity, room, since } = merged;
      this.#tell({ identity, state: 'here', room, time: since });
    }
    this.#forgetBeyondBounds(now);
    this.#awaitExpiry(now);
    return merged;
  }

  #forgetBeyondBounds(now: number): void {
    for (const oldest of this.#requests.values()) {
      const fits = this.#requests.size <= REMEMBERED && this.#length <= REMEMBERED_LENGTH;
      if (fits || this.#requests.size === 1) return;
      this.#forget(oldest, now);
    }
  }

  /** Forgets requests whose time is up. */
  #sweep(now: number): void {
    for (const seen of this.#requests.values()) {
      const until = seen.lastSeen + this.#stays;
      if (until > now) return;
      this.#forget(seen, until);
    }
  }

  #forget({ identity, room }: RequestPresence, time: number): void {
    this.#requests.delete(identity);
    this.#length -= identity.length;
    if (!this.#isHere(identity)) this.#tell({ identity, state: 'gone', room, time });
  }

  #awaitExpiry(now: number): void {
    if (this.#expiry !== undefined) return;
    const [oldest] = this.#requests.values();
    if (oldest === undefined) return;
    // A clock that was set back must not make this wait longer.
    const wait = Math.min(oldest.lastSeen + this.#stays - now, this.#stays);
    this.#expiry = setTimeout(() => {
      this.#expiry = undefined;
      const now = Date.now();
      this.#sweep(now);
      this.#awaitExpiry(now);
    }, wait).unref();
  }

  #isHere(identity: string): boolean {
    return this.#streams.has(identity) || this.#requests.has(identity);
  }

  #tell(change: PresenceChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** Stands for this thread in keys. */
const OURS = '';

function keyOf(from: string, { number }: StreamPresence): string {
  return `${from} ${number}`;
}

/** Of those who arrived in the same millisecond, the later one is further behind. */
function newest<One extends Pick<RequestPresence, 'since'>>(
  arrived: readonly One[],
  most: number,
): One[] {
  const inOrder = arrived.toSorted((one, other) => one.since - other.since);
  return inOrder.slice(Math.max(0, inOrder.length - most));
}

/** Several streams are one presence: here since the first, where the newest is. */
function together(streams: ReadonlyMap<string, StreamPresence>): Streaming {
  let [first] = streams.values();
  let newest = first;
  for (const stream of streams.values()) {
    if (stream.since < (first?.since ?? 0)) first = stream;
    if (stream.since >= (newest?.since ?? 0)) newest = stream;
  }
  if (first === undefined || newest === undefined) throw new Error('Nobody is here by no stream.');
  return { identity: first.identity, room: newest.room, since: first.since };
}

/** Threads may tell of the same visitor in any order. */
function later(known: RequestPresence, seen: RequestPresence): RequestPresence {
  const { room, lastSeen } = seen.lastSeen < known.lastSeen ? known : seen;
  const since = Math.min(known.since, seen.since);
  return { identity: known.identity, room, since, lastSeen };
}

/** A name of its own: one that was cut out of a URL would keep the whole URL alive. */
function kept(identity: string): string {
  return Buffer.from(identity).toString();
}
