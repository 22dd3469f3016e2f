/** Bodies that are forms (PROTOCOL.md section 7.7): turned into the JSON text of a body. */
import type { GatewayError } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { FormMembers, formError, type FieldHandler } from './form-members.ts';
import type { FormGrammar } from '../grammar.ts';
import { hashIdempotencyKey, onlyKey } from '../idempotency-key.ts';
import { MultipartError, MultipartReader } from './multipart-reader.ts';
import { UrlencodedReader } from './urlencoded-reader.ts';

/** A form up to this size in bytes has the members that the same query would have. */
const MAX_HELD = 64 * 1024;
/** Bytes of a chunk that are converted in one piece: each may be a field. */
const PART_SIZE = 4096;
/** RFC 2046 section 5.1.1 allows 70. */
const MAX_BOUNDARY = 256;

const KEY = 'idempotency-key';
const RESERVED: ReadonlySet<string> = new Set([KEY]);
const NOT_PERCENT_ENCODED = 'since every field is stored as text: encode other data (as base64)';

const URLENCODED = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\/form-data\s*(?:;|$)/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;,"]+))/i;

/** A form never starts with one of these bytes: they would be percent-encoded, or come before a boundary. */
const JSON_START = /^[\s{["\xef]/;
const JSON_START_IN_MULTIPART = /^[{["]/;

/** Throws a `MultipartError`. */
interface FormReader {
  feed(piece: Buffer): void;
  end(): void;
}

/** The readers of one form. */
interface Form {
  readonly members: FormMembers;
  readonly reader: FormReader;
}

/** Passes on a body that is JSON, and turns one that is a form into JSON. For one body. */
export class FormConverter {
  readonly #contentType: string | undefined;
  readonly #kind: FormGrammar;
  readonly #omitEmpty: boolean;
  #key: Uint8Array | undefined;

  /** `omitEmpty`: an empty field is no member, unless the kind requires it. */
  constructor(contentType: string | undefined, kind: FormGrammar, omitEmpty = false) {
    this.#contentType = contentType;
    this.#kind = kind;
    this.#omitEmpty = omitEmpty;
  }

  /** The hash of the field `idempotency-key`, after the end of the body. */
  get key(): Uint8Array | undefined {
    return this.#key;
  }

  /** The JSON text of a whole body. Throws `invalid-parameter`. */
  convert(bytes: Buffer): Buffer {
    const form = this.#formOf(bytes[0]);
    return form === undefined ? bytes : Buffer.concat([this.#feed(form, bytes), this.#end(form)]);
  }

  /** The JSON text of a body that arrives in chunks. Throws `invalid-parameter`. */
  async *convertChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array, void, undefined> {
    let form: Form | undefined;
    let isStart = true;
    const yieldTurn = yieldPeriodically();
    for await (const chunk of chunks) {
      if (isStart) form = this.#formOf(chunk[0]);
      isStart = false;
      if (form === undefined) yield chunk;
      else
        for (let at = 0; at < chunk.length; at += PART_SIZE) {
          yield this.#feed(form, chunk.subarray(at, at + PART_SIZE));
          await yieldTurn();
        }
    }
    if (form !== undefined) yield this.#end(form);
  }

  /** Undefined for a body that is no form. */
  #formOf(firstByte: number | undefined): Form | undefined {
    if (this.#contentType === undefined || firstByte === undefined) return undefined;
    const syntax = formSyntax(this.#contentType, firstByte);
    if (syntax === 'no boundary') throw this.#typeError(NO_BOUNDARY);
    if (syntax === undefined) return undefined;
    const members = new FormMembers({
      kind: this.#kind,
      reserved: RESERVED,
      maxHeld: MAX_HELD,
      encoding: syntax.encoding,
      omitEmpty: this.#omitEmpty,
    });
    return { members, reader: syntax.readerFor(members) };
  }

  /** The next bytes of the JSON text. */
  #feed({ members, reader }: Form, bytes: Buffer): Buffer {
    this.#run(() => reader.feed(bytes));
    return members.take();
  }

  /** The last bytes of the JSON text. */
  #end({ members, reader }: Form): Buffer {
    this.#run(() => reader.end());
    this.#key = hashIdempotencyKey(undefined, onlyKey(members.reservedValues(KEY)));
    return members.end();
  }

  #run(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof MultipartError)) throw error;
      throw this.#typeError(
        `the body must be the multipart/form-data that "Content-Type" announces, but ${error.message}`,
      );
    }
  }

  #typeError(detail: string): GatewayError {
    return formError(this.#kind, [{ parameter: 'Content-Type', detail }]);
  }
}

const NO_BOUNDARY = `"Content-Type: multipart/form-data" must have a boundary of 1 to ${MAX_BOUNDARY} characters, as in multipart/form-data; boundary=X`;

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
      readerFor: (handler) => new UrlencodedReader(handler, true),
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
