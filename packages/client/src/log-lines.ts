/**
 * Reads the lines of a log: an answer of `GET /api/log`, or an export (PROTOCOL.md section 20.2).
 *
 * Owns the form of lines; knows neither where the bytes come from nor whether links hold. Upholds that memory
 * stays flat: many small lines are given at once, a long one comes in pieces.
 */
import type { Checkpoint } from '@open-presence/protocol';

import { parseObject } from './entry.ts';
import { PresenceError } from './presence-error.ts';

/** A line of a log, with the gateway's own members of its entry. Its bytes are valid until the next lines are requested. */
export interface LogLine {
  /** The link of this entry, in hex. */
  readonly link: string;
  /** In hex; undefined where the entry cannot be verified, or was withheld. */
  readonly salt: string | undefined;
  /** Of a withheld entry, the digest of its salt and body, in hex. */
  readonly digest: string | undefined;
  /** Of a withheld entry that was an answer: the seq of the entry that begins its thread, in hex. */
  readonly thread: string | undefined;
  /** Hash of the idempotency key's column, in hex. */
  readonly key: string | undefined;
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly room: string;
  /** The gateway's own members, as they were printed. */
  readonly own: Uint8Array;
  /** The visitor's members, without comma and brace; undefined where the line is long. */
  readonly body: Uint8Array | undefined;
  /** The same in pieces, whatever its size. That of a long line can be read once. */
  chunks(): AsyncGenerator<Uint8Array, void>;
}

export interface LogLines {
  /** The position after which the lines begin. */
  readonly checkpoint: Checkpoint;
  /** Lines that have arrived together: one that is long, or several. What is not read of a long one is skipped. */
  readonly batches: AsyncGenerator<readonly LogLine[], void>;
}

/** What a line has before the visitor's members. In an event stream, it is the data of an event. */
const OPENING =
  /(?:data: )?\{"link":"([\da-f]{64})"(?:,"salt":"([\da-f]{32})")?(?:,"digest":"([\da-f]{64})")?(?:,"thread":"([\da-f]{16})")?(?:,"key":"([\da-f]{64})")?,"entry":(\{"id":"([\da-f-]{36})","seq":(\d{1,16}),"kind":"([a-z]+)","room":"([^"\\]+)","timestamp":"[^"\\]+")/y;

/** A line of an event stream that has no data. */
const NO_DATA = /(?:(?:event|id|retry)?:.*)?\n/y;

/** Bytes of a line. Longer ones come in pieces. */
const LONG_LINE = 64 * 1024;
const LF = 0x0a;
const COMMA = 0x2c;
const BRACE = 0x7d;
/** What follows the visitor's members: the brace of the entry, and that of the line. */
const CLOSING = 2;

const NO_CHECKPOINT = 'is no checkpoint, with which a log begins: these may be entries alone';

/** Throws `PresenceError` with the code `not-a-log` for other bytes, also while the lines are read. */
export async function readLogLines(bytes: AsyncIterable<Uint8Array>): Promise<LogLines> {
  const reader = new LogLineReader(bytes);
  try {
    return { checkpoint: await reader.checkpoint(), batches: reader.batches() };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

class LogLineReader {
  readonly #source: AsyncIterator<Uint8Array>;
  // One character for each byte.
  readonly #decoder = new TextDecoder('latin1');
  /** What has arrived and was not given yet. */
  #buffer: Uint8Array = new Uint8Array(0);
  /** The line that is read, from 1. */
  #line = 1;
  /** Whether the end of a long line was not read yet. */
  #isInLine = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#source = bytes[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async checkpoint(): Promise<Checkpoint> {
    for (;;) {
      const end = this.#buffer.indexOf(LF) + 1;
      if (end > 0) {
        const line = new TextDecoder().decode(this.#take(end));
        const found = checkpointIn(line.replace(/^data: /, ''));
        if (found === undefined && !isWithoutData(line, 0)) throw this.#fault(NO_CHECKPOINT);
        this.#line += 1;
        if (found !== undefined) return found;
      } else if (this.#buffer.length > LONG_LINE || !(await this.#fill()))
        throw this.#fault(NO_CHECKPOINT);
    }
  }

  async *batches(): AsyncGenerator<readonly LogLine[], void> {
    try {
      for (;;) {
        const end = this.#buffer.lastIndexOf(LF) + 1;
        if (end > 0) yield this.#shortLines(this.#take(end));
        else if (this.#buffer.length > LONG_LINE) yield* this.#longLine();
        else if (!(await this.#fill())) break;
      }
      if (this.#buffer.length > 0) throw this.#fault('breaks off');
    } finally {
      await this.close();
    }
  }

  /** `bytes`: lines with their ends. */
  #shortLines(bytes: Uint8Array): LogLine[] {
    const text = this.#decoder.decode(bytes);
    const lines: LogLine[] = [];
    for (let at = 0; at < bytes.length; this.#line += 1) {
      const end = text.indexOf('\n', at);
      if (!isWithoutData(text, at)) {
        const { start, ...members } = this.#opening(bytes, text, at);
        const body = bytes.subarray(start, this.#bodyEnd(bytes, end));
        if (start > end - CLOSING) throw this.#fault('does not end as it should');
        lines.push({ ...members, body, chunks: () => only(body) });
      }
      at = end + 1;
    }
    return lines;
  }

  async *#longLine(): AsyncGenerator<readonly LogLine[], void> {
    const bytes = this.#buffer;
    const { start, ...members } = this.#opening(bytes, this.#decoder.decode(bytes), 0);
    this.#take(start);
    this.#isInLine = true;
    const chunks = this.#longBody();
    yield [{ ...members, body: undefined, chunks: () => chunks }];
    // Whoever stopped reading has ended that generator.
    if (this.#isInLine) for await (const _ of this.#longBody());
    this.#line += 1;
  }

  /** Up to the end of the line, without what closes it. */
  async *#longBody(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const end = this.#buffer.indexOf(LF);
      if (end !== -1) {
        const rest = this.#take(end + 1);
        this.#isInLine = false;
        yield rest.subarray(0, this.#bodyEnd(rest, end));
        return;
      }
      const size = this.#buffer.length - CLOSING;
      if (size > 0) yield this.#take(size);
      if (!(await this.#fill())) throw this.#fault('breaks off');
    }
  }

  /** What a line has before its body, and where that starts. `text`: the line, or its beginning. */
  #opening(
    bytes: Uint8Array,
    text: string,
    at: number,
  ): Omit<LogLine, 'body' | 'chunks'> & { readonly start: number } {
    OPENING.lastIndex = at;
    const found = OPENING.exec(text);
    const end = OPENING.lastIndex;
    const isFollowed = bytes[end] === COMMA || bytes[end] === BRACE;
    if (found === null || !isFollowed) throw this.#fault('has not the form of a line of a log');
    const [, link = '', salt, digest, thread, key, printed = ''] = found;
    const [id = '', seq, kind = '', room = ''] = found.slice(7);
    const own = bytes.subarray(end - printed.length, end);
    const start = bytes[end] === COMMA ? end + 1 : end;
    return { link, salt, digest, thread, key, id, seq: Number(seq), kind, room, own, start };
  }

  /** `end`: of a line. */
  #bodyEnd(bytes: Uint8Array, end: number): number {
    if (bytes[end - 1] === BRACE && bytes[end - CLOSING] === BRACE) return end - CLOSING;
    throw this.#fault('does not end as it should');
  }

  #take(size: number): Uint8Array {
    const taken = this.#buffer.subarray(0, size);
    this.#buffer = this.#buffer.subarray(size);
    return taken;
  }

  /** Returns false at the end. */
  async #fill(): Promise<boolean> {
    const step = await this.#source.next();
    if (step.done === true) return false;
    const rest = this.#buffer;
    // One chunk needs no copy.
    this.#buffer = step.value;
    if (rest.length > 0) {
      this.#buffer = new Uint8Array(rest.length + step.value.length);
      this.#buffer.set(rest);
      this.#buffer.set(step.value, rest.length);
    }
    return true;
  }

  #fault(description: string): PresenceError {
    return new PresenceError('not-a-log', `Line ${this.#line} of the log ${description}.`);
  }
}

function isWithoutData(text: string, at: number): boolean {
  NO_DATA.lastIndex = at;
  return NO_DATA.test(text);
}

async function* only(body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (body.length > 0) yield body;
}

/** Undefined for a text that is no checkpoint. */
export function checkpointIn(text: string): Checkpoint | undefined {
  const { log, head, link } = (parseObject(text) ?? {}) as Partial<Checkpoint>;
  const isWhole =
    typeof log === 'string' &&
    typeof link === 'string' &&
    /^[\da-f]{64}$/.test(link) &&
    typeof head === 'number' &&
    Number.isSafeInteger(head) &&
    head >= 0;
  return isWhole ? { log, head, link } : undefined;
}
