/**
 * Streams that ask for the same and have seen the same. What is new is framed once for all of them
 * and the same bytes are written to each, in turns with whatever else the thread has to do.
 *
 * Owns no stream: one that stalls leaves with its cursor, and comes again when it has caught up.
 */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

import { follow, type LogRange } from '../../feed/follow.ts';
import type { Log, Selection, Seq } from '../../log/log.ts';
import type { EventStream, StreamChunk } from '../../http/event-stream.ts';
import { frameEntries } from './entry-frames.ts';

/** What is asked for; `key` is the same where all else is. */
export interface StreamQuery {
  readonly key: string;
  readonly selection: Pick<Selection, 'facets' | 'since'>;
  /** Only these, where there are several. */
  readonly kinds: ReadonlySet<string> | undefined;
}

/** Bytes of a slice at most. All who stall together keep the same one. */
const SLICE = 64 * 1024;
/** Where the news are longer, everyone reads them at their own pace. */
const SHARED = 1024 * 1024;
/** A stream that lacks more than this is not near enough for others to join it. */
const NEAR = 4096;
/** Streams written to within one turn of the event loop. */
const WRITTEN_TOGETHER = 32;

const fanOuts = new WeakMap<Log, FanOut>();

export class FanOut {
  /** That of a log, which all streams of a thread share. */
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
   * Takes a stream along that has seen all up to the cursor. Resolves, when it stalls or ends, to
   * the cursor from which it must read on; undefined if it lacks something: up to `target`.
   */
  join(question: StreamQuery, stream: EventStream, cursor: Seq): Promise<Seq> | undefined {
    const known = this.#groups.get(question.key);
    if (known !== undefined) return cursor < known.cursor ? undefined : known.join(stream, cursor);
    if (this.#log.head() - cursor > NEAR) return undefined;
    const deserted = (): void => void this.#groups.delete(question.key);
    const group = new FanOutGroup(this.#log, question, { cursor, deserted });
    this.#groups.set(question.key, group);
    const joined = group.join(stream, cursor);
    void group.run();
    return joined;
  }

  /**
   * How far a stream that has seen all up to the cursor must read to join. Others who have less may
   * have made up a group by now, which is behind it: never back to there.
   */
  target({ key }: StreamQuery, cursor: Seq): Seq {
    return Math.max(cursor, this.#groups.get(key)?.cursor ?? this.#log.head());
  }
}

interface Member {
  cursor: Seq;
  readonly leave: (cursor: Seq) => void;
  readonly fail: (error: unknown) => void;
}

interface Beginning {
  readonly cursor: Seq;
  /** Called when the last one has left: it must not be joined any more. */
  readonly deserted: () => void;
}

class FanOutGroup {
  readonly #log: Log;
  readonly #question: StreamQuery;
  readonly #members = new Map<EventStream, Member>();
  readonly #deserted = new AbortController();
  /** What all have seen, but those who came from beyond. */
  cursor: Seq;

  constructor(log: Log, question: StreamQuery, { cursor, deserted }: Beginning) {
    this.#log = log;
    this.#question = question;
    this.cursor = cursor;
    this.#deserted.signal.addEventListener('abort', deserted);
  }

  join(stream: EventStream, cursor: Seq): Promise<Seq> {
    const { promise, resolve, reject } = Promise.withResolvers<Seq>();
    const remove = (): void => {
      stream.ended.removeEventListener('abort', end);
      this.#members.delete(stream);
      if (this.#members.size === 0) this.#deserted.abort();
    };
    const leave = (reached: Seq): void => {
      remove();
      resolve(reached);
    };
    const fail = (error: unknown): void => {
      remove();
      reject(error);
    };
    const end = (): void => leave(cursor);
    this.#members.set(stream, { cursor, leave, fail });
    stream.ended.addEventListener('abort', end);
    if (stream.ended.aborted) end();
    return promise;
  }

  /** Resolves when nobody is left. */
  async run(): Promise<void> {
    try {
      await this.#follow();
    } catch (error) {
      for (const { fail } of this.#members.values()) fail(error);
    }
  }

  async #follow(): Promise<void> {
    const { selection } = this.#question;
    const from = { after: this.cursor, signal: this.#deserted.signal };
    for await (const news of follow(this.#log, selection, from)) {
      const began = performance.now();
      const slices = await this.#slices(news);
      this.cursor = news.before - 1;
      await this.#give(news, slices);
      // As long again as it took, so that streams never have more than half of the thread.
      const took = performance.now() - began;
      if (took > 1) await pause(took);
    }
  }

  async #slices(news: LogRange): Promise<readonly StreamChunk[] | undefined> {
    const slices: StreamChunk[] = [];
    let size = 0;
    const { kinds } = this.#question;
    for await (const slice of frameEntries(this.#log, news, { kinds, size: SLICE })) {
      slices.push(slice);
      size += slice.chunk.length;
      if (size > SHARED) return undefined;
    }
    return slices;
  }

  async #give(news: LogRange, slices: readonly StreamChunk[] | undefined): Promise<void> {
    const reached = news.before - 1;
    let written = 0;
    for (const [stream, member] of this.#members) {
      if (member.cursor >= reached) continue;
      if (slices === undefined || member.cursor !== news.after) {
        member.leave(member.cursor);
        continue;
      }
      if (slices.length > 0) {
        written += 1;
        if (written % WRITTEN_TOGETHER === 0) await turn();
      }
      const cursor = writeAll(stream, slices, news.after);
      if (cursor !== undefined) member.leave(cursor);
      else if (stream.isStalled) member.leave(reached);
      else member.cursor = reached;
    }
  }
}

/** Writes until the reader stalls; gives the cursor to read on from, undefined if that was all. */
function writeAll(
  stream: EventStream,
  slices: readonly StreamChunk[],
  after: Seq,
): Seq | undefined {
  let cursor: Seq | undefined = after;
  for (const slice of slices) {
    if (cursor !== undefined && stream.isStalled) return cursor;
    stream.write(slice);
    // Within an entry there is no cursor: it goes out whole.
    cursor = slice.cursor;
  }
  return undefined;
}
