/**
 * Where the messages among the bytes of a connection end (RFC 9112 sections 2.1, 6 and 7.1). Owns the
 * limit for heads.
 */
import { MAX_HEADER_SIZE } from '@open-presence/protocol';

const CR = 0x0d;
const LF = 0x0a;
/** Ends the head of a request, and a chunked body. */
const EMPTY_LINE = Buffer.of(CR, LF, CR, LF);
const CONTENT_LENGTH = ['Content-Length', 'content-length'].map((name) =>
  Buffer.from(`\r\n${name}: `),
);
/**
 * What a line of a head counts beyond its bytes: a header counts for its name, its value and 32 bytes, as
 * in a field section of HTTP/2 (RFC 9113 section 6.5.2), which bounds the work for very many of them too.
 */
const LINE_SIZE = 28;

/** Finds the end of each head and of each body, in whatever pieces they arrive. */
export class MessageFraming {
  /** Bytes of the current body that are still to come, if its length is known. */
  bodyLeft = 0;
  /** How many bytes of an empty line the bytes up to here end with. */
  #matched = 0;
  /** Whether the bytes that were found last end a head, or a chunked body. */
  #isPartWhole = false;
  /** What has arrived of a head that has not ended, with `LINE_SIZE` for each line. */
  #headSize = 0;

  /** Whether nothing of a head has arrived. */
  get isAtStart(): boolean {
    return this.#headSize === 0 && this.#matched === 0;
  }

  /** Where the head or the body ends, or else the bytes. */
  endOfPart(bytes: NonSharedBuffer, start: number): number {
    if (this.bodyLeft > 0) {
      const end = Math.min(bytes.length, start + this.bodyLeft);
      this.bodyLeft -= end - start;
      return end;
    }
    let at = start;
    this.#isPartWhole = true;
    for (; this.#matched > 0 && at < bytes.length; at += 1)
      if (this.#endsLine(bytes[at])) return at + 1;
    const found = bytes.indexOf(EMPTY_LINE, at);
    if (found !== -1) return found + EMPTY_LINE.length;
    this.#isPartWhole = false;
    at = Math.max(at, bytes.length - EMPTY_LINE.length + 1);
    for (; at < bytes.length; at += 1) this.#endsLine(bytes[at]);
    return bytes.length;
  }

  /**
   * Whether the head is complete with this part. Node counts only names and values, not the spaces between them,
   * nor the lines.
   */
  isHeadTooLong(part: Buffer): boolean {
    const total = this.#headSize + part.length + LINE_SIZE * linesIn(part);
    this.#headSize = this.#isPartWhole ? 0 : total;
    return total > MAX_HEADER_SIZE;
  }

  /** Whether an empty line ends with this byte. */
  #endsLine(byte: number | undefined): boolean {
    const isExpected = byte === EMPTY_LINE[this.#matched];
    this.#matched = isExpected ? (this.#matched + 1) % EMPTY_LINE.length : Number(byte === CR);
    return isExpected && this.#matched === 0;
  }
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** Whether the bytes are one whole request with a body. If so, they are parsed at once. */
export function isOneRequest(bytes: NonSharedBuffer): boolean {
  const headEnd = bytes.indexOf(EMPTY_LINE);
  if (headEnd === -1) return false;
  for (const name of CONTENT_LENGTH) {
    const at = bytes.indexOf(name);
    if (at === -1 || at >= headEnd) continue;
    const start = at + name.length;
    const length = Number(bytes.toString('latin1', start, bytes.indexOf(CR, start)));
    return length === bytes.length - headEnd - EMPTY_LINE.length;
  }
  return false;
}
