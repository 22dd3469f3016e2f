/**
 * Fan-out: streams with the same selection and the same cursor form a group. New entries are framed
 * once per group, and the same bytes are written to each of its streams.
 *
 * Does not own streams: one that stalls leaves its group with a cursor, reads on by itself, and joins
 * again when it has caught up. Upholds that distribution takes at most half of the thread's time.
 */
import { setTimeout as delay, setImmediate as yieldToEventLoop } from 'node:timers/promises';

import { follow, type LogRange } from '../../feed/follow.ts';
import type { Log, Selection, Seq } from '../../log/log.ts';
import type { EventStream, StreamChunk } from '../../http/response/event-stream.ts';

/** How entries are written as events. */
export interface Framing {
  /** Differs between framings. */
  readonly name: string;
  /** The first event of a stream that begins after this entry; `head`, with the log's name, by default. */
  readonly opening?: {
    readonly event: string;
    readonly position: (log: Log, after: Seq) => object;
  };
  /** Whether the stream tells nothing of what is withheld: readers take all of its data for entries. */
  readonly withoutCases?: true;
  /** The entries of a range in chunks of about `size` bytes. A chunk with a `cursor` ends with a whole entry. */
  frame(log: Log, range: LogRange, size: number): AsyncGenerator<StreamChunk, void, undefined>;
}

/** What streams of a group have in common. Equal selections have equal keys. */
export interface StreamSelection {
  readonly framing: Framing;
  readonly key: string;
  readonly selection: Pick<Selection, 'facets' | 'since' | 'withheld'>;
}

/** Bytes of a chunk at most. Streams of a group that stall hold the same chunk. */
const CHUNK_SIZE = 64 * 1024;
/** In bytes. A group does not hold longer ranges: each stream reads them by itself. */
const MAX_SHARED_SIZE = 1024 * 1024;
/** A stream that lacks more entries than this starts no group. */
const MAX_LAG = 4096;
/** Streams that are written to in one turn of the event loop. */
const WRITES_PER_TURN = 32;

const fanOuts = new WeakMap<Log, FanOut>();

export class FanOut {
  /** The fan-out of a log, which all streams of a thread share. */
  static of(log: Log): FanOut {
    const fanOut = fanOuts.get(log) ?? new FanOut(log);
    fanOuts.set(log, fanOut);
    return fanOut;
  }

  readonly #log: Log;
  readonly #groups = new Map<string, FanOutGroup>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Adds a stream that has sent everything up to the cursor to its group. Resolves, when it stalls or ends, with
   * the cursor to read on from. Undefined for a stream that must first read up to `target`.
   */
  join(wanted: StreamSelection, stream: EventStream, cursor: Seq): Promise<Seq> | undefined {
    const existing = this.#groups.get(groupKey(wanted));
    if (existing !== undefined) {
      return cursor < existing.cursor ? undefined : existing.join(stream, cursor);
    }
    if (this.#log.head() - cursor > MAX_LAG) return undefined;
    const onEmpty = (): void => void this.#groups.delete(groupKey(wanted));
    const group = new FanOutGroup(this.#log, wanted, { cursor, onEmpty });
    this.#groups.set(groupKey(wanted), group);
    const joined = group.join(stream, cursor);
    void group.run();
    return joined;
  }

  /** The same with the group's selection, if there is a group: its filters are held once. */
  shared<Wanted extends StreamSelection>(wanted: Wanted): Wanted {
    const selection = this.#groups.get(groupKey(wanted))?.selection ?? wanted.selection;
    return { ...wanted, selection };
  }

  /**
   * The cursor up to which a stream must read before it joins. Never before its own cursor, although a group
   * that is further back may have started meanwhile.
   */
  target(wanted: StreamSelection, cursor: Seq): Seq {
    return Math.max(cursor, this.#groups.get(groupKey(wanted))?.cursor ?? this.#log.head());
  }
}

function groupKey({ framing, key }: StreamSelection): string {
  return `${framing.name} ${key}`;
}

interface Subscriber {
  cursor: Seq;
  readonly left: (cursor: Seq | Promise<Seq>) => void;
}

interface GroupOptions {
  readonly cursor: Seq;
  /** Called when the last stream has left: none may join the group any more. */
  readonly onEmpty: () => void;
}

class FanOutGroup {
  readonly #log: Log;
  readonly #wanted: StreamSelection;
  readonly #subscribers = new Map<EventStream, Subscriber>();
  readonly #empty = new AbortController();
  /** All streams have sent everything up to here. A stream that joined later has sent more. */
  cursor: Seq;

  constructor(log: Log, wanted: StreamSelection, { cursor, onEmpty }: GroupOptions) {
    this.#log = log;
    this.#wanted = wanted;
    this.cursor = cursor;
    this.#empty.signal.addEventListener('abort', onEmpty);
  }

  get selection(): StreamSelection['selection'] {
    return this.#wanted.selection;
  }

  join(stream: EventStream, cursor: Seq): Promise<Seq> {
    return new Promise<Seq>((left) => {
      this.#subscribers.set(stream, { cursor, left });
      stream.onEnd = () => this.#leave(stream, cursor);
      if (stream.isEnded) this.#leave(stream, cursor);
    });
  }

  #leave(stream: EventStream, cursor: Seq | Promise<Seq>): void {
    const subscriber = this.#subscribers.get(stream);
    stream.onEnd = undefined;
    this.#subscribers.delete(stream);
    if (this.#subscribers.size === 0) this.#empty.abort();
    subscriber?.left(cursor);
  }

  /** Resolves when the last stream has left. */
  async run(): Promise<void> {
    try {
      await this.#followLog();
    } catch (error) {
      for (const stream of this.#subscribers.keys()) this.#leave(stream, Promise.reject(error));
    }
  }

  async #followLog(): Promise<void> {
    const { selection } = this.#wanted;
    const from = { after: this.cursor, signal: this.#empty.signal };
    for await (const range of follow(this.#log, selection, from)) {
      const start = performance.now();
      const chunks = await this.#readChunks(range);
      this.cursor = range.before - 1;
      await this.#distribute(range, chunks);
      // Leaves the thread to other work for as long as this took.
      const duration = performance.now() - start;
      if (duration > 1) await delay(duration);
    }
  }

  /** Undefined for a range that is too long to be shared. */
  async #readChunks(range: LogRange): Promise<readonly StreamChunk[] | undefined> {
    const chunks: StreamChunk[] = [];
    let size = 0;
    const reading = { ...range, signal: this.#empty.signal };
    for await (const chunk of this.#wanted.framing.frame(this.#log, reading, CHUNK_SIZE)) {
      chunks.push(chunk);
      size += chunk.chunk.length;
      if (size > MAX_SHARED_SIZE) return undefined;
    }
    return chunks;
  }

  async #distribute(range: LogRange, chunks: readonly StreamChunk[] | undefined): Promise<void> {
    const reached = range.before - 1;
    let written = 0;
    for (const [stream, subscriber] of this.#subscribers) {
      if (subscriber.cursor >= reached) continue;
      if (chunks === undefined || subscriber.cursor !== range.after) {
        this.#leave(stream, subscriber.cursor);
        continue;
      }
      if (chunks.length > 0) {
        written += 1;
        if (written % WRITES_PER_TURN === 0) await yieldToEventLoop();
      }
      const cursor = writeAll(stream, chunks, range.after);
      if (cursor !== undefined) this.#leave(stream, cursor);
      else if (stream.isStalled) this.#leave(stream, reached);
      else subscriber.cursor = reached;
    }
  }
}

/** Writes until the reader stalls, then returns the cursor to read on from. Undefined if it did not stall. */
function writeAll(
  stream: EventStream,
  chunks: readonly StreamChunk[],
  after: Seq,
): Seq | undefined {
  let cursor: Seq | undefined = after;
  for (const chunk of chunks) {
    if (cursor !== undefined && stream.isStalled) return cursor;
    stream.write(chunk);
    // Undefined within an entry: an entry is written whole.
    cursor = chunk.cursor;
  }
  return undefined;
}
