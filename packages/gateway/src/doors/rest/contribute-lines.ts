/**
 * Storing many entries in one request (PROTOCOL.md section 7.8): each line of the body is an entry,
 * and is answered by a line.
 *
 * The lines that arrive together are appended together, so that they share a commit. Meanwhile the
 * next ones are read; no more than these two batches are in memory.
 */
import { entryHead, localize, problemDocument, type Kind } from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { isDisconnected, localeFor } from '../../http/context.ts';
import { wantsHalfDuplex } from '../../http/negotiation.ts';
import { COMMON_HEADERS, contentLanguage, NO_STORE } from '../../http/response/headers.ts';
import { problemOf } from '../../http/response/problem.ts';
import { bodyChunks, discardBody } from '../../http/request/request-body.ts';
import { SpillingWriter } from '../../http/response/spilling-writer.ts';
import { hasManyFacets, parseDraft, SMALL_BODY_SIZE } from '../../intake/draft.ts';
import type { ParsedDraft } from '../../intake/parsed-draft.ts';
import { linesOf, type Line, type LongLine } from '../../intake/line-reader.ts';
import { append, draftFor, type Contribution } from '../../operations/append.ts';
import { notesMember } from '../../operations/draft-notes.ts';
import type { DoorRequest } from '../context.ts';
import { idempotencyKeyOf } from './request-key.ts';

const NDJSON = /^\s*(?:application|text)\/(?:x-)?(?:ndjson|ldjson|jsonl|json-?lines)\s*(?:;|$)/i;

export function isNdjson(contentType: string | undefined): boolean {
  return contentType !== undefined && NDJSON.test(contentType);
}

export async function storeLines(context: DoorRequest, kind: Kind): Promise<void> {
  const { app, request, response } = context;
  // Throws for a key or an encoding that is invalid for the whole request.
  idempotencyKeyOf(request);
  const chunks = bodyChunks(request);
  response.writeHead(200, {
    'Content-Type': 'application/x-ndjson',
    ...NO_STORE,
    ...contentLanguage(localeFor(request)),
    ...COMMON_HEADERS,
  });
  const held = wantsHalfDuplex(request.headers['prefer']);
  await using writer = new SpillingWriter(response, app.temporaryFolder, held);
  await new LineStore(context, kind, writer).storeAll(chunks);
  await writer.end();
  discardBody(request);
}

class LineStore {
  readonly #context: DoorRequest;
  readonly #kind: Kind;
  readonly #writer: SpillingWriter;
  readonly #yieldTurn = yieldPeriodically();
  /** The number of the last line that was read. */
  #last = 0;
  /** Resolves when the results of earlier lines are written. */
  #written: Promise<void> = Promise.resolve();

  constructor(context: DoorRequest, kind: Kind, writer: SpillingWriter) {
    this.#context = context;
    this.#kind = kind;
    this.#writer = writer;
  }

  /** Resolves when all results are written. If the body cannot be decoded, the last one says so. */
  async storeAll(chunks: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const lines of linesOf(chunks)) {
        const results = await ('chunks' in lines
          ? this.#storeLong(lines)
          : this.#startBatch(lines));
        await this.#written;
        this.#written = this.#write(results);
      }
      await this.#written;
    } catch (error) {
      await this.#written;
      if (isDisconnected(this.#context)) return;
      await this.#writer.write(this.#describeError(this.#last + 1, error));
    }
  }

  async #write(results: readonly Promise<string>[]): Promise<void> {
    await this.#writer.write((await Promise.all(results)).join(''));
  }

  /** Resolves when all lines are appended, in their order, and before they are durable. */
  async #startBatch(lines: readonly Line[]): Promise<Promise<string>[]> {
    const results: Promise<string>[] = [];
    for (const { number, bytes } of lines) {
      results.push(this.#store(number, () => this.#parse(number, bytes)));
      await this.#yieldTurn();
    }
    return results;
  }

  /** Resolves when the line is durable: what follows it can be read only then. */
  async #storeLong({ number, chunks }: LongLine): Promise<Promise<string>[]> {
    const result = this.#store(number, () => this.#read(number, chunks));
    await result;
    return [result];
  }

  #parse(number: number, bytes: Buffer): ParsedDraft | Promise<ParsedDraft> {
    if (bytes.length > SMALL_BODY_SIZE) return this.#read(number, [bytes]);
    const draft = parseDraft(this.#kind, bytes, this.#context.app.grammar, this.#keyOf(number));
    return hasManyFacets(draft) ? this.#read(number, [bytes]) : draft;
  }

  #read(number: number, body: Contribution['body']): Promise<ParsedDraft> {
    const { app } = this.#context;
    return draftFor(app, { kind: this.#kind, body, key: this.#keyOf(number) });
  }

  #keyOf(number: number): Uint8Array | undefined {
    return idempotencyKeyOf(this.#context.request, ` ${number}`);
  }

  /** The result of a line. Never rejects. A draft that needs no waiting is appended at once. */
  async #store(number: number, draftOf: () => ParsedDraft | Promise<ParsedDraft>): Promise<string> {
    this.#last = number;
    try {
      const draft = draftOf();
      const { log } = this.#context.app;
      const parsed = draft instanceof Promise ? await draft : draft;
      const stamp = await append(log, parsed);
      return `{"line":${number},"status":201,${entryHead(stamp).slice(1)}${await notesMember(log, parsed)}}\n`;
    } catch (error) {
      return isDisconnected(this.#context) ? '' : this.#describeError(number, error);
    }
  }

  #describeError(line: number, error: unknown): string {
    const { app, request } = this.#context;
    const problem = problemOf(this.#context, error);
    const title = localize(app.language.errors[problem.code], localeFor(request));
    const { status, ...others } = problemDocument(problem, title);
    return `${JSON.stringify({ line, status, ...others })}\n`;
  }
}
