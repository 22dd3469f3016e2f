/**
 * Reads the lines of a log: an answer of `GET /api/log`, or an export (PROTOCOL.md section 20.2).
 *
 * Owns the form of lines; knows neither where the bytes come from nor whether links hold. Upholds that memory
 * stays flat: many small lines are given at once, a long one comes in pieces.
 */
import type { Checkpoint } from '@open-presence/protocol';

import { PresenceError } from '../presence-error.ts';

/** What stands in a line before the visitor's members. Positions are in the text. */
interface LineOpening {
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
  readonly timestamp: string;
  /** Where the entry begins. */
  readonly start: number;
  /** The index after the gateway's own members. */
  readonly end: number;
}

const OPENING =
  /\{"link":"([\da-f]{64})"(?:,"salt":"([\da-f]{32})")?(?:,"digest":"([\da-f]{64})")?(?:,"thread":"([\da-f]{16})")?(?:,"key":"([\da-f]{64})")?,"entry":(\{"id":"([\da-f-]{36})","seq":(\d{1,16}),"kind":"([a-z]+)","room":"([^"\\]+)","timestamp":"([^"\\]+)")/y;

/** Undefined for what is no such line. `text`: one character for each byte. `from`: where the line begins. */
function readOpening(text: string, from: number): LineOpening | undefined {
  OPENING.lastIndex = from;
  const found = OPENING.exec(text);
  if (found === null) return undefined;
  const [, link = '', salt, digest, thread, key, own = '', id = '', seq, kind = ''] = found;
  const [room = '', timestamp = ''] = found.slice(10);
  const end = OPENING.lastIndex;
  const start = end - own.length;
  return {
    link,
    salt,
    digest,
    thread,
    key,
    id,
    seq: Number(seq),
    kind,
    room,
    timestamp,
    start,
    end,
  };
}

/** A line of a log. Its bytes are valid until the next lines are requested. */
export interface LogLine extends Omit<LineOpening, 'start' | 'end'> {
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

/** Bytes of a line. Longer ones come in pieces. */
const LONG_LINE = 64 * 1024;
const LF = 0x0a;
const COMMA = 0x2c;
const BRACE = 0x7d;
/** What follows the visitor's members: the brace of the entry, and that of the line. */
const CLOSING = 2;
const EMPTY = new Uint8Array(0);

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
  #buffer: Uint8Array = EMPTY;
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
      const end = this.#buffer.indexOf(LF);
      if (end !== -1) {
        const found = checkpointIn(new TextDecoder().decode(this.#take(end + 1)));
        if (found === undefined) throw this.#fault(NO_CHECKPOINT);
        this.#line += 1;
        return found;
      }
      if (this.#buffer.length > LONG_LINE || !(await this.#fill()))
        throw this.#fault(NO_CHECKPOINT);
    }
  }

  async *batches(): AsyncGenerator<readonly LogLine[], void> {
    try {
      for (;;) {
        const end = this.#buffer.lastIndexOf(LF);
        if (end !== -1) yield this.#shortLines(this.#take(end + 1));
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
      const opening = this.#opening(text, at);
      const bodyStart = this.#bodyStart(bytes, opening, end);
      const isClosed = bytes[end - 1] === BRACE && bytes[end - CLOSING] === BRACE;
      if (bodyStart > end - CLOSING || !isClosed) throw this.#fault('does not end as it should');
      const body = bytes.subarray(bodyStart, end - CLOSING);
      lines.push(lineOf(opening, bytes, { body, chunks: () => only(body) }));
      at = end + 1;
    }
    return lines;
  }

  async *#longLine(): AsyncGenerator<readonly LogLine[], void> {
    const bytes = this.#buffer;
    const opening = this.#opening(this.#decoder.decode(bytes), 0);
    this.#take(this.#bodyStart(bytes, opening, bytes.length));
    this.#isInLine = true;
    const chunks = this.#longBody();
    yield [lineOf(opening, bytes, { body: undefined, chunks: () => chunks })];
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
        const isClosed = rest[end - 1] === BRACE && rest[end - CLOSING] === BRACE;
        if (!isClosed) throw this.#fault('does not end as it should');
        if (end > CLOSING) yield rest.subarray(0, end - CLOSING);
        return;
      }
      const size = this.#buffer.length - CLOSING;
      if (size > 0) yield this.#take(size);
      if (!(await this.#fill())) throw this.#fault('breaks off');
    }
  }

  /** `text` may be only the beginning of the line. */
  #opening(text: string, at: number): LineOpening {
    const opening = readOpening(text, at);
    if (opening === undefined) throw this.#fault('has not the form of a line of a log');
    return opening;
  }

  #bodyStart(bytes: Uint8Array, { end }: LineOpening, lineEnd: number): number {
    if (bytes[end] === COMMA) return end + 1;
    if (bytes[end] === BRACE && end === lineEnd - CLOSING) return end;
    throw this.#fault('has not the form of a line of a log');
  }

  #take(size: number): Uint8Array {
    const taken = this.#buffer.subarray(0, size);
    this.#buffer = this.#buffer.subarray(size);
    return taken;
  }

  /** Reads up to the end of a line, or as much as makes a line long. Returns false at the end. */
  async #fill(): Promise<boolean> {
    const parts = [this.#buffer];
    let size = this.#buffer.length;
    let hasMore = true;
    for (let isEnough = false; hasMore && !isEnough;) {
      const step = await this.#source.next();
      hasMore = step.done !== true;
      if (step.done === true) break;
      parts.push(step.value);
      size += step.value.length;
      isEnough = size > LONG_LINE || step.value.includes(LF);
    }
    this.#buffer = joined(parts, size);
    return hasMore;
  }

  #fault(description: string): PresenceError {
    return new PresenceError('not-a-log', `Line ${this.#line} of the log ${description}.`);
  }
}

function lineOf(
  { start, end, ...members }: LineOpening,
  bytes: Uint8Array,
  rest: Pick<LogLine, 'body' | 'chunks'>,
): LogLine {
  return { ...members, own: bytes.subarray(start, end), ...rest };
}

/** One part without a copy. */
function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const only = parts.find(({ length }) => length === size);
  if (only !== undefined) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function* only(body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (body.length > 0) yield body;
}

export function checkpointIn(line: string): Checkpoint | undefined {
  try {
    const { log, head, link } = JSON.parse(line) as Partial<Checkpoint>;
    if (typeof log !== 'string' || typeof link !== 'string' || !/^[\da-f]{64}$/.test(link))
      return undefined;
    return Number.isSafeInteger(head) && head !== undefined && head >= 0
      ? { log, head, link }
      : undefined;
  } catch {
    return undefined;
  }
}
