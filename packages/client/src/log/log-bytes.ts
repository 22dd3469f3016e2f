import type { Connection, Query, Signal } from '../connection.ts';
import type { ListingFilters } from '../listing.ts';
import { readOpening } from './line-opening.ts';

/** Which part of a log: entries after the seq `after`, at most `limit`. */
export interface LogRange extends Signal {
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

/** Which entries. Not those that are to come, and always the oldest first. */
export type LineFilters = Omit<ListingFilters, 'order' | 'wait' | 'with'>;

/** Lines of entries, the oldest first. */
interface LineRequest extends LogRange {
  readonly path: '/api/log' | '/api/entries';
  readonly query: Query;
}

const LF = 0x0a;
/** Enough for what stands in a line before the visitor's members. */
const OPENING = 4096;
/** An entry on its own. */
const ENTRY = /^\{"id":"[\da-f-]{36}","seq":(\d{1,16}),/;

/** See `Gateway.logBytes`. */
export function logBytes(
  connection: Connection,
  range: LogRange,
): AsyncGenerator<Uint8Array, void> {
  return resumedLines(connection, { path: '/api/log', query: {}, ...range });
}

/** See `Gateway.entryLines`. */
export function entryLines(
  connection: Connection,
  { after, limit, signal, ...filters }: LineFilters,
): AsyncGenerator<Uint8Array, void> {
  const query = { ...filters, order: 'oldest' };
  return resumedLines(connection, { path: '/api/entries', query, after, limit, signal });
}

/**
 * A gateway prints the same bytes again: an answer that breaks off is read on after its last whole
 * line, without what was given of the next.
 */
async function* resumedLines(
  connection: Connection,
  { path, query, after = 0, limit, signal }: LineRequest,
): AsyncGenerator<Uint8Array, void> {
  const backoff = connection.backoff(signal);
  const isLog = path === '/api/log';
  const given = new GivenLines(after, isLog);
  const headers = { Accept: 'application/x-ndjson' };
  for (let isFirst = true; ; isFirst = false) {
    let hasEnded = false;
    try {
      // A line of the log that cannot be read is left out, and counts.
      const count = isLog ? given.last - after : given.count;
      const left = limit === undefined ? undefined : limit - count;
      if (left === 0 && !isFirst) return;
      const range = { after: given.last, limit: left };
      const response = await connection.send(path, {
        query: { ...query, ...range },
        headers,
        signal,
      });
      const bytes = connection.bytes(response, signal);
      for await (const chunk of given.missingFrom(bytes)) {
        backoff.reset();
        yield chunk;
      }
      if (given.size === 0) return;
      hasEnded = true;
      // Some proxies end an answer as if it were whole where it broke off.
      throw connection.unreachable(new Error('the answer broke off'));
    } catch (error) {
      const hasNoLine = hasEnded && given.count === 0;
      if (isFirst && (given.size === 0 || hasNoLine)) throw error;
      await backoff.pause(error);
    }
  }
}

/** Remembers how far the lines were given. */
class GivenLines {
  /** The seq of the last whole line. */
  last: number;
  /** Bytes after that line. */
  size = 0;
  /** How many whole lines were given. */
  count = 0;
  readonly #isLog: boolean;
  /** Whether the checkpoint, the first line of a log, was given. */
  #hasCheckpoint: boolean;
  /** The beginning of the line that has not ended. */
  #opening = new Uint8Array(0);
  readonly #decoder = new TextDecoder('latin1');

  constructor(after: number, isLog: boolean) {
    this.last = after;
    this.#isLog = isLog;
    this.#hasCheckpoint = !isLog;
  }

  /** What was not given yet of an answer that begins after `last`. */
  async *missingFrom(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    let isInCheckpoint = this.#isLog && this.#hasCheckpoint;
    let skip = this.size;
    for await (const chunk of bytes) {
      let from = 0;
      if (isInCheckpoint) {
        const end = chunk.indexOf(LF);
        if (end === -1) continue;
        isInCheckpoint = false;
        from = end + 1;
      }
      const skipped = Math.min(skip, chunk.length - from);
      skip -= skipped;
      const missing = chunk.subarray(from + skipped);
      if (missing.length === 0) continue;
      this.#add(missing);
      yield missing;
    }
  }

  #add(chunk: Uint8Array): void {
    const end = chunk.lastIndexOf(LF);
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) this.count += 1;
    if (end === -1) {
      this.#open(chunk);
      return;
    }
    const start = end === 0 ? 0 : chunk.lastIndexOf(LF, end - 1) + 1;
    if (start > 0) this.#hasCheckpoint = true;
    if (start > 0) this.#restart();
    this.#open(chunk.subarray(start, end));
    // Where the line is the checkpoint, it has no entry.
    if (this.#hasCheckpoint) this.last = this.#seqOfOpening() ?? this.last;
    this.#hasCheckpoint = true;
    this.#restart();
    this.#open(chunk.subarray(end + 1));
  }

  #restart(): void {
    this.#opening = new Uint8Array(0);
    this.size = 0;
  }

  #open(bytes: Uint8Array): void {
    this.size += bytes.length;
    const free = OPENING - this.#opening.length;
    if (free === 0 || bytes.length === 0) return;
    const opening = new Uint8Array(this.#opening.length + Math.min(free, bytes.length));
    opening.set(this.#opening);
    opening.set(bytes.subarray(0, free), this.#opening.length);
    this.#opening = opening;
  }

  #seqOfOpening(): number | undefined {
    const text = this.#decoder.decode(this.#opening);
    if (this.#isLog) return readOpening(text, 0)?.seq;
    const [, seq] = ENTRY.exec(text) ?? [];
    return seq === undefined ? undefined : Number(seq);
  }
}
