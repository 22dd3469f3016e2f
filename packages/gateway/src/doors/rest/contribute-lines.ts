/**
 * Storing many entries in one request (PROTOCOL.md section 7.8): each line of the body is an entry,
 * and is answered by a line.
 *
 * The lines that arrive together are appended together, so that they share a commit. Meanwhile the
 * next ones are read; no more than these two batches are in memory.
 *
 * Invariant: Lines of one request are stored in their order, each once, and answered in it,
 *   whenever the caller reads.
 * Test: `packages/gateway/src/doors/rest/contribute-lines.test.ts` “are stored once each by a
 *   caller who loses every second connection” “are answered to a caller who reads nothing before
 *   all is sent”
 */
import {
  entryHead,
  localize,
  problemDocument,
  type Kind,
  portableJson,
} from '@open-presence/protocol';

import { yieldPeriodically } from '../../fair-turns.ts';
import { isDisconnected, localeFor } from '../../http/context.ts';
import { wantsHalfDuplex } from '../../http/negotiation.ts';
import { COMMON_HEADERS, contentLanguage, NO_STORE } from '../../http/response/headers.ts';
import { problemOf } from '../../http/response/problem.ts';
import { bodyChunks } from '../../http/request/request-body.ts';
import { SpillingWriter } from '../../http/response/spilling-writer.ts';
import { parseDraft, SMALL_BODY_SIZE } from '../../intake/draft.ts';
import type { ParsedDraft } from '../../intake/body-reader.ts';
import { linesOf, type Line } from '../../intake/line-reader.ts';
import { append, draftFor, type Contribution } from '../../operations/contribution/append.ts';
import {
  mayHaveNotes,
  notesMember,
  repeatedMember,
} from '../../operations/contribution/draft-notes.ts';
import { withheldMember } from '../../operations/withholding/withholdings.ts';
import type { DoorRequest } from '../context.ts';
import { idempotencyKeyOf } from '../request-key.ts';

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

  /** Resolves when all results are written. If the body cannot be decoded, the last result says so. */
  async storeAll(chunks: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const lines of linesOf(chunks)) {
        const results =
          'chunks' in lines
            ? [await this.#storeLong(lines.number, lines.chunks)]
            : await this.#startAll(lines);
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

  async #write(results: readonly (string | Promise<string>)[]): Promise<void> {
    let text = '';
    for (const result of results) text += await result;
    await this.#writer.write(text);
  }

  /** Resolves after all lines are appended, in order. The last ones may not be durable yet. */
  async #startAll(lines: readonly Line[]): Promise<(string | Promise<string>)[]> {
    const results: (string | Promise<string>)[] = [];
    for (const { number, bytes } of lines) {
      const isLong = bytes.length > SMALL_BODY_SIZE;
      results.push(isLong ? await this.#storeLong(number, bytes) : this.#storeSmall(number, bytes));
      await this.#yieldTurn();
    }
    return results;
  }

  #storeSmall(number: number, bytes: Buffer): string | Promise<string> {
    this.#last = number;
    try {
      const { grammar } = this.#context.app;
      return this.#store(number, parseDraft(this.#kind, bytes, grammar, this.#keyOf(number)));
    } catch (error) {
      return this.#describeError(number, error);
    }
  }

  /** Resolves when the line is durable: the next one is appended only after that. Never rejects. */
  async #storeLong(number: number, body: Contribution['body']): Promise<string> {
    this.#last = number;
    const key = this.#keyOf(number);
    try {
      const draft = await draftFor(this.#context.app, { kind: this.#kind, body, key });
      return await this.#store(number, draft);
    } catch (error) {
      return this.#failed(number, error);
    }
  }

  #keyOf(number: number): Uint8Array | undefined {
    return idempotencyKeyOf(this.#context.request, ` ${number}`);
  }

  /** The result of a line. Appends it at once. Never rejects. */
  async #store(number: number, draft: ParsedDraft): Promise<string> {
    const { app } = this.#context;
    const { log } = app;
    try {
      const { metadata, isRepeated } = await append(log, draft);
      const earlier = isRepeated ? await log.entry(metadata.seq) : undefined;
      const withheld = earlier && withheldMember(earlier);
      const left = withheld === undefined ? '' : `,"withheld":${JSON.stringify(withheld)}`;
      const notes = mayHaveNotes(log, draft) ? await notesMember(app, draft, metadata.seq) : '';
      const others = left + repeatedMember(isRepeated) + notes;
      return `{"line":${number},"status":201,${entryHead(metadata).slice(1)}${others}}\n`;
    } catch (error) {
      return this.#failed(number, error);
    }
  }

  #failed(number: number, error: unknown): string {
    return isDisconnected(this.#context) ? '' : this.#describeError(number, error);
  }

  #describeError(line: number, error: unknown): string {
    const { app, request } = this.#context;
    const problem = problemOf(this.#context, error);
    const title = localize(app.language.errors[problem.code], localeFor(request));
    const { status, ...others } = problemDocument(problem, title);
    return `${portableJson({ line, status, ...others })}\n`;
  }
}
