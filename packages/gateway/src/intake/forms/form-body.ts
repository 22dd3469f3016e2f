/** Bodies that are forms (PROTOCOL.md section 7.7): turned into the JSON text of a body. */
import { yieldPeriodically } from '../../fair-turns.ts';
import type { FormGrammar } from '../grammar.ts';
import { hashIdempotencyKey, onlyKey } from '../idempotency-key.ts';
import { FormMembers, formError, type FieldHandler } from './form-members.ts';
import { MultipartError, readMultipart } from './multipart.ts';
import { readUrlencoded } from './urlencoded.ts';

/** A form up to this size in bytes has the members that the same query would have. */
const MAX_HELD = 64 * 1024;

const KEY = 'idempotency-key';
const RESERVED: ReadonlySet<string> = new Set([KEY]);
const NOT_PERCENT_ENCODED = 'since every field is stored as text: encode other data (as base64)';

const URLENCODED = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\/form-data\s*(?:;|$)/i;
/** A form begins with none of these bytes: they would be percent-encoded. `curl -d` sends JSON with its type. */
const JSON_START = /^[\s{["\xef]/;

interface FormSyntax {
  /** How text must be encoded, for errors. */
  readonly encoding: string;
  /** Passes fields to the handler, a piece with each step. May throw a `MultipartError`. */
  readonly read: (
    chunks: AsyncIterable<Buffer>,
    handler: FieldHandler,
  ) => AsyncGenerator<void, void, undefined>;
}

/** Undefined where the body is no form. */
export function formSyntax(
  contentType: string | undefined,
  firstByte: number | undefined,
): FormSyntax | undefined {
  if (contentType === undefined || firstByte === undefined) return undefined;
  if (MULTIPART.test(contentType)) {
    const read: FormSyntax['read'] = (chunks, handler) =>
      readMultipart(chunks, contentType, handler);
    return { encoding: NOT_PERCENT_ENCODED, read };
  }
  if (!URLENCODED.test(contentType) || JSON_START.test(String.fromCharCode(firstByte)))
    return undefined;
  return { encoding: 'percent-encoded', read: readUrlencoded };
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

  /** The JSON text of a body that arrives in chunks. Throws `invalid-parameter`. */
  async *convertChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    const source = chunks[Symbol.asyncIterator]();
    const first = await source.next();
    const body = resumed(first, source);
    const syntax = first.done === true ? undefined : formSyntax(this.#contentType, first.value[0]);
    if (syntax === undefined) {
      yield* body;
      return;
    }
    const members = new FormMembers({
      kind: this.#kind,
      reserved: RESERVED,
      maxHeld: MAX_HELD,
      encoding: syntax.encoding,
      omitEmpty: this.#omitEmpty,
    });
    const yieldTurn = yieldPeriodically();
    try {
      for await (const _ of syntax.read(body, members)) {
        yield members.take();
        await yieldTurn();
      }
    } catch (error) {
      if (!(error instanceof MultipartError)) throw error;
      const detail = `the body must be the multipart/form-data that "Content-Type" announces, but ${error.message}`;
      throw formError(this.#kind, [{ parameter: 'Content-Type', detail }]);
    }
    this.#key = hashIdempotencyKey(undefined, onlyKey(members.reservedValues(KEY)));
    yield members.end();
  }
}

/** The source from its first step on. */
async function* resumed(
  first: IteratorResult<Buffer>,
  source: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for (let step = first; step.done !== true; step = await source.next()) yield step.value;
  } finally {
    await source.return?.();
  }
}
