/**
 * Turns the bytes of a body into a draft. With `selection.ts` the only place that validates what
 * visitors send.
 *
 * Owns the rules of PROTOCOL.md sections 4 and 6 for bodies of any size and depth; refuses to know
 * where bytes come from and where drafts go. Upholds:
 * - the outcome is the same, to the letter, however a body arrives: at once, in pieces, small or large.
 * - memory stays flat: what is stored of a large body goes to a spool as it arrives.
 * - whatever a visitor sends, only a `GatewayError` is thrown, and a spool is disposed of then.
 */
import type { Kind } from '@open-presence/protocol';

import { yieldPeriodically } from '../fair-turns.ts';
import { GrowingBuffer } from '../growing-buffer.ts';
import type { Spool } from '../log/log.ts';
import { JsonScanner } from '../json/scanner.ts';
import { BodyReader, type ParsedDraft } from './body-reader.ts';
import type { Grammar } from './grammar.ts';
import { parseSmallBody } from './small-body.ts';

/** Bodies up to this size in bytes are held in memory. */
export const SMALL_BODY_SIZE: number = 64 * 1024;
/** Bytes that are read between checks of the clock: few, because each facet costs a hash. */
const SLICE = 8 * 1024;
/** Bytes that are moved to the spool at once, at least. */
const MIN_FLUSH = 64 * 1024;

export interface DraftOptions {
  readonly grammar: Grammar;
  /** Opens the spool for a large body. */
  readonly spool: () => Spool;
  /** Digest of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** Its `body` may be a part of `bytes`. Throws a `GatewayError`. */
export function parseDraft(
  kind: Kind,
  bytes: Uint8Array,
  grammar: Grammar,
  key?: Uint8Array,
): ParsedDraft {
  const kindGrammar = grammar.kinds[kind];
  const { room, example } = kindGrammar;
  const small = parseSmallBody(kindGrammar, bytes);
  if (small !== undefined) return { kind, room, ...small, ...(key === undefined ? {} : { key }) };
  const reader = new BodyReader(grammar, kindGrammar);
  const scanner = new JsonScanner(reader, example);
  scanner.feed(bytes);
  scanner.end();
  return reader.draft({ body: reader.body.whole(), key }, scanner.portability);
}

/** The draft of a body in chunks, which must not be changed. Throws as `parseDraft`, and what `chunks` or the spool throws. */
export async function readDraft(
  kind: Kind,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { grammar, spool, key }: DraftOptions,
): Promise<ParsedDraft> {
  const buffer = new GrowingBuffer();
  let large: LargeBodyReader | undefined;
  await using spools = new AsyncDisposableStack();
  const spoolBuffered = async (): Promise<LargeBodyReader> => {
    const reader = new LargeBodyReader(grammar, kind, spools.use(spool()));
    await reader.feed(buffer.bytes);
    return reader;
  };
  for await (const chunk of chunks) {
    if (large === undefined) {
      buffer.append(chunk);
      if (buffer.length > SMALL_BODY_SIZE) large = await spoolBuffered();
    } else {
      await large.feed(chunk);
    }
  }
  if (large === undefined) return parseDraft(kind, buffer.bytes, grammar, key);
  const draft = await large.finish(key);
  spools.move();
  return draft;
}

/** Reads a large body in chunks, and moves what is stored of it to a spool. */
export class LargeBodyReader {
  readonly #spool: Spool;
  readonly #reader: BodyReader;
  readonly #scanner: JsonScanner;
  readonly #yieldTurn = yieldPeriodically();

  /** Does not own the spool. */
  constructor(grammar: Grammar, kind: Kind, spool: Spool) {
    const kindGrammar = grammar.kinds[kind];
    this.#spool = spool;
    this.#reader = new BodyReader(grammar, kindGrammar);
    this.#scanner = new JsonScanner(this.#reader, kindGrammar.example);
  }

  /** Resolves when the next chunk may follow. Throws `malformed-json`. */
  async feed(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; from += SLICE) {
      this.#scanner.feed(chunk.subarray(from, from + SLICE));
      if (this.#reader.body.length >= MIN_FLUSH) await this.#flushBody();
      await this.#yieldTurn();
    }
  }

  /** The draft of the whole body. Throws like `parseDraft`. */
  async finish(key: Uint8Array | undefined): Promise<ParsedDraft> {
    this.#scanner.end();
    const draft = this.#reader.draft({ body: this.#spool, key }, this.#scanner.portability);
    await this.#flushBody();
    return draft;
  }

  #flushBody(): Promise<void> {
    return this.#reader.body.flushTo(this.#spool, this.#yieldTurn);
  }
}
