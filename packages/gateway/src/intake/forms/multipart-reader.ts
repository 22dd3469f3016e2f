/**
 * Reads `multipart/form-data` (RFC 7578), in pieces of any size. Each part is a field: its name is
 * that of `Content-Disposition`, its value the content of the part. Lines may end with LF alone.
 */
import type { FieldHandler } from './form-members.ts';

/** The headers of one part are held in memory. */
const MAX_HEADER_SIZE = 16 * 1024;
const EMPTY = Buffer.alloc(0);
const LINE_BREAK = Buffer.from('\n');
const BYTE_ORDER_MARK = Buffer.from('\n\ufeff');
const CR = 0x0d;

/** What is wrong with a body that is not `multipart/form-data`. */
export class MultipartError extends Error {}

export class MultipartReader {
  readonly #handler: FieldHandler;
  /** The line break before a boundary belongs to it. */
  readonly #delimiter: Buffer;
  #state: 'preamble' | 'headers' | 'content' | 'epilogue' = 'preamble';
  /** What the next piece may complete. The first boundary needs no line break before it. */
  #rest: Buffer = LINE_BREAK;
  #isStart = true;

  constructor(boundary: string, handler: FieldHandler) {
    this.#handler = handler;
    this.#delimiter = Buffer.from(`\n--${boundary}`, 'latin1');
  }

  /** Throws a `MultipartError`. */
  feed(piece: Buffer): void {
    if (this.#state === 'epilogue') return;
    this.#rest = Buffer.concat([this.#rest, piece]);
    if (this.#isStart) this.#dropByteOrderMark();
    while (this.#state === 'headers' ? this.#readHeaders() : this.#readContent());
  }

  /** Throws a `MultipartError`. */
  end(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'headers' && /^--[ \t\r]*$/.test(this.#rest.toString('latin1'))) return;
    const boundary = this.#delimiter.toString('latin1', 1);
    throw new MultipartError(
      this.#state === 'preamble'
        ? `no line of the body is the boundary "${boundary}"`
        : `the body ends without its last boundary "${boundary}--"`,
    );
  }

  /** It would hide the first boundary, and so the first field. */
  #dropByteOrderMark(): void {
    const { length } = BYTE_ORDER_MARK;
    if (this.#rest.length < length) return;
    this.#isStart = false;
    if (!this.#rest.subarray(0, length).equals(BYTE_ORDER_MARK)) return;
    this.#rest = Buffer.concat([LINE_BREAK, this.#rest.subarray(length)]);
  }

  /** Whether there may be more to read. */
  #readContent(): boolean {
    const rest = this.#rest;
    const at = rest.indexOf(this.#delimiter);
    // Bytes that may be part of the delimiter, or the CR before it, wait for the next piece.
    const open = Math.max(0, rest.length - this.#delimiter.length);
    const end = at > 0 && rest[at - 1] === CR ? at - 1 : at;
    if (this.#state === 'content') {
      this.#handler.value(rest.subarray(0, at === -1 ? open : end));
      if (at !== -1) this.#handler.endField();
    }
    this.#rest = rest.subarray(at === -1 ? open : at + this.#delimiter.length);
    if (at !== -1) this.#state = 'headers';
    return at !== -1;
  }

  #readHeaders(): boolean {
    const rest = this.#rest;
    const text = rest.toString('latin1', 0, MAX_HEADER_SIZE);
    const line = /^(--)?[ \t]*\r?\n/.exec(text);
    if (line === null && text.includes('\n')) throw new MultipartError(GOES_ON);
    if (line?.[1] !== undefined) {
      this.#state = 'epilogue';
      this.#rest = EMPTY;
      return false;
    }
    const end = /\n\r?\n/.exec(text);
    if (end === null) {
      if (rest.length < MAX_HEADER_SIZE) return false;
      throw new MultipartError(`the headers of a part are longer than ${MAX_HEADER_SIZE} bytes`);
    }
    const headers = text.slice(0, end.index).replaceAll(/\r?\n[ \t]+/g, ' ');
    if (UTF_16.test(headers)) throw new MultipartError(NOT_UTF_8);
    const name = nameIn(headers);
    if (name === undefined) throw new MultipartError(NO_NAME);
    this.#handler.name(name);
    this.#handler.value(EMPTY);
    this.#rest = rest.subarray(end.index + end[0].length);
    this.#state = 'content';
    return true;
  }
}

const GOES_ON =
  'a line that begins with the boundary goes on: the boundary must be one that is in no field';
/** Its bytes can be UTF-8 as well, with NUL between the letters. */
const UTF_16 = /^content-type\s*:.*charset\s*=\s*"?utf-?(?:16|32)/im;
const NOT_UTF_8 = 'a part is in UTF-16 or UTF-32: each must be text in UTF-8';
const NO_NAME =
  'a part has no name: each needs the header Content-Disposition: form-data; name="…"';

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;

/** The name that the unfolded headers of a part give it. */
function nameIn(headers: string): Buffer | undefined {
  const disposition = /^content-disposition\s*:.*$/im.exec(headers)?.[0] ?? '';
  for (const [, parameter = '', quotedName, token] of disposition.matchAll(PARAMETER)) {
    if (parameter.toLowerCase() !== 'name') continue;
    return Buffer.from(quotedName === undefined ? (token ?? '') : unescape(quotedName), 'latin1');
  }
  return undefined;
}

/** Browsers write these characters of a name as escapes (HTML standard), others with backslashes. */
function unescape(name: string): string {
  const plain = name.replaceAll(/\\(["\\])/g, '$1');
  return plain.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
}
