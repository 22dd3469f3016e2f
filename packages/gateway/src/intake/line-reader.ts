/** Splits a body of any length into lines of any length (PROTOCOL.md section 7.8). */
import { SMALL_BODY_SIZE } from './draft.ts';

export interface Line {
  /** From 1; blank lines count. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** A line that is longer than what is held in memory. */
export interface LongLine {
  readonly number: number;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Lines beyond these come in the next batch. */
const MAX_BATCH = 512;
const LF = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * The lines that arrived together, without blank ones, or a single long one. If it is not read, its rest is
 * skipped.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<readonly Line[] | LongLine, void, undefined> {
  const source = chunks[Symbol.asyncIterator]();
  /** The start of a line whose end has not arrived. */
  let open: Buffer[] = [];
  let openSize = 0;
  let number = 0;
  const batch: Line[] = [];
  const take = (end: Buffer): void => {
    const bytes = open.length === 0 ? end : Buffer.concat([...open, end]);
    open = [];
    openSize = 0;
    number += 1;
    if (!isBlank(number === 1 ? withoutMark(bytes) : bytes)) batch.push({ number, bytes });
  };
  for (let step = await source.next(); step.done !== true;) {
    const chunk = step.value;
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      if (batch.length === MAX_BATCH) yield batch.splice(0);
    }
    if (batch.length > 0) yield batch.splice(0);
    if (from < chunk.length) open.push(chunk.subarray(from));
    openSize += chunk.length - from;
    if (openSize <= SMALL_BODY_SIZE) {
      step = await source.next();
      continue;
    }
    const line = new LongLineReader(source, open);
    open = [];
    openSize = 0;
    number += 1;
    yield { number, chunks: line.chunks() };
    step = await line.skip();
  }
  if (openSize > 0) take(Buffer.alloc(0));
  if (batch.length > 0) yield batch;
}

class LongLineReader {
  readonly #source: AsyncIterator<Buffer>;
  readonly #start: Buffer[];
  /** What the source gave after the line. */
  #after: IteratorResult<Buffer> | undefined;

  constructor(source: AsyncIterator<Buffer>, start: Buffer[]) {
    this.#source = source;
    this.#start = start;
  }

  async *chunks(): AsyncGenerator<Buffer, void, undefined> {
    yield* this.#start.splice(0);
    while (this.#after === undefined) yield await this.#read();
  }

  /** Reads the rest of the line. Returns the source's next step, without bytes of the line. */
  async skip(): Promise<IteratorResult<Buffer>> {
    while (this.#after === undefined) await this.#read();
    return this.#after;
  }

  async #read(): Promise<Buffer> {
    const step = await this.#source.next();
    if (step.done === true) {
      this.#after = step;
      return Buffer.alloc(0);
    }
    const end = step.value.indexOf(LF);
    if (end === -1) return step.value;
    this.#after = { done: false, value: step.value.subarray(end + 1) };
    return step.value.subarray(0, end);
  }
}

/** Without the byte order mark that a body may begin with. */
function withoutMark(bytes: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? bytes.subarray(length) : bytes;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
