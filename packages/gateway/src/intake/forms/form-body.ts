/** Bodies that are forms (PROTOCOL.md section 7.7): turned into the JSON text of a body. */
import type { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { FormMembers, formError, type FieldHandler } from './form-members.ts';
import type { KindGrammar } from '../grammar.ts';
import { hashIdempotencyKey } from '../idempotency-key.ts';
import { MultipartError, MultipartReader } from './multipart-reader.ts';
import { UrlencodedReader } from './urlencoded-reader.ts';

/** A form up to this size in bytes has the members that the same query would have. */
const MAX_HELD = 64 * 1024;
/** How many bytes of a chunk are converted in one piece: they may be as many fields. */
const PART_SIZE = 4096;
/** RFC 2046 section 5.1.1 allows 70. */
const MAX_BOUNDARY = 256;

const KEY = 'idempotency-key';
const RESERVED: ReadonlySet<string> = new Set([KEY]);
const NOT_PERCENT_ENCODED = 'since every field is stored as text: encode other data (as base64)';

const URLENCODED = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\/form-data\s*(?:;|$)/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;,"]+))/i;

/** A form starts with none of these: they would be percent-encoded, or come before a boundary. */
const JSON_START = /^[\s{["\xef]/;
const JSON_START_IN_MULTIPART = /^[{["]/;

/** Throws a `MultipartError`. */
interface FormReader {
  feed(piece: Buffer): void;
  end(): void;
}

/** Passes on a body that is JSON, and turns one that is a form into JSON. For one body. */
export class FormConverter {
  readonly #contentType: string | undefined;
  readonly #kind: KindGrammar;
  readonly #omitEmpty: boolean;
  #form: Form | undefined;

  /** `omitEmpty`: an empty field is no member, unless the kind requires it. */
  constructor(contentType: string | undefined, kind: KindGrammar, omitEmpty = false) {
    this.#contentType = contentType;
    this.#kind = kind;
    this.#omitEmpty = omitEmpty;
  }

  /** The hash of the field `idempotency-key`, after the end of the body. */
  get key(): Uint8Array | undefined {
    return this.#form?.key;
  }

  /** The JSON text of a whole body. Throws `invalid-parameter`. */
  convert(bytes: Buffer): Buffer {
    this.#start(bytes[0]);
    if (this.#form === undefined) return bytes;
    return Buffer.concat([this.#form.feed(bytes), this.#form.end()]);
  }

  /** The JSON text of a body that arrives in chunks. Throws `invalid-parameter`. */
  async *convertChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array, void, undefined> {
    let isStart = true;
    const yieldTurn = yieldPeriodically();
    for await (const chunk of chunks) {
      if (isStart) this.#start(chunk[0]);
      isStart = false;
      if (this.#form === undefined) yield chunk;
      else
        for (let at = 0; at < chunk.length; at += PART_SIZE) {
          yield this.#form.feed(chunk.subarray(at, at + PART_SIZE));
          await yieldTurn();
        }
    }
    if (this.#form !== undefined) yield this.#form.end();
  }

  #start(firstByte: number | undefined): void {
    if (this.#contentType === undefined || firstByte === undefined) return;
    const syntax = formSyntax(this.#contentType, firstByte);
    if (syntax === 'no boundary') throw noBoundary(this.#kind);
    this.#form = syntax && new Form(this.#kind, syntax, this.#omitEmpty);
  }
}

interface FormSyntax {
  /** How text must be encoded, for errors. */
  readonly encoding: string;
  readonly readerFor: (handler: FieldHandler) => FormReader;
}

/**
 * The syntax of a form of this type that starts with this byte. Undefined for JSON, whatever its type
 * says.
 */
export function formSyntax(
  contentType: string,
  firstByte: number,
): FormSyntax | 'no boundary' | undefined {
  const start = String.fromCharCode(firstByte);
  if (URLENCODED.test(contentType)) {
    if (JSON_START.test(start)) return undefined;
    return {
      encoding: 'percent-encoded',
      readerFor: (handler) => new UrlencodedReader(handler),
    };
  }
  if (!MULTIPART.test(contentType) || JSON_START_IN_MULTIPART.test(start)) return undefined;
  const [, quoted, token] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined || boundary.length > MAX_BOUNDARY) return 'no boundary';
  return {
    encoding: NOT_PERCENT_ENCODED,
    readerFor: (handler) => new MultipartReader(boundary, handler),
  };
}

function noBoundary(kind: KindGrammar): GatewayError {
  const detail = `"Content-Type: multipart/form-data" must have a boundary of 1 to ${MAX_BOUNDARY} characters, as in multipart/form-data; boundary=X`;
  return formError(kind, [{ parameter: 'Content-Type', detail }]);
}

class Form {
  readonly #kind: KindGrammar;
  readonly #members: FormMembers;
  readonly #reader: FormReader;
  key: Uint8Array | undefined;

  constructor(kind: KindGrammar, { encoding, readerFor }: FormSyntax, omitEmpty: boolean) {
    this.#kind = kind;
    this.#members = new FormMembers({
      kind,
      reserved: RESERVED,
      maxHeld: MAX_HELD,
      encoding,
      omitEmpty,
    });
    this.#reader = readerFor(this.#members);
  }

  /** The next bytes of the JSON text. */
  feed(bytes: Buffer): Buffer {
    this.#run(() => this.#reader.feed(bytes));
    return this.#members.take();
  }

  /** The last bytes of the JSON text. */
  end(): Buffer {
    this.#run(() => this.#reader.end());
    this.key = hashIdempotencyKey(undefined, this.#members.reservedValue(KEY) ?? null);
    return this.#members.end();
  }

  #run(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof MultipartError)) throw error;
      const detail = `the body must be the multipart/form-data that "Content-Type" announces, but ${error.message}`;
      throw formError(this.#kind, [{ parameter: 'Content-Type', detail }]);
    }
  }
}
