/**
 * Relays MCP messages from standard input to a gateway by HTTP, and its answers to standard output.
 *
 * Passes messages on byte for byte, whatever their revision, and in flat memory, whatever their size. Adds
 * a message of its own only if the gateway does not answer. Answers every request once, unless it is
 * cancelled or too long for the disk. Sends messages only to the given address.
 */
import type { Writable } from 'node:stream';

import { parseEvents, splitLines, withoutBreaks } from './framing.ts';
import {
  answeredIds,
  errorIn,
  inspectMessages,
  negotiatedRevision,
  UNREACHABLE,
  type JsonRpcError,
  type MessageInfo,
  type RequestId,
} from './message.ts';
import { MessageText, TooLong } from './message-text.ts';
import type { ProcessContext } from '../process-context.ts';

/** Each pending request takes a connection. At this many, long-polling ones not counted, the relay stops reading. */
const MAX_PENDING = 64;
/**
 * The longest answer to one request, in bytes. A result has some 64 KiB (PROTOCOL.md section 18.5), and
 * arguments that it repeats. An answer beyond this would probably never end.
 */
const LONGEST_ANSWER = 256 * 1024 * 1024;
const LONGEST_REFUSAL = 1024 * 1024;
const NEWLINE = Buffer.from('\n');

interface PendingPost {
  readonly info: MessageInfo;
  /** The requests that are not answered yet. */
  readonly ids: Set<RequestId>;
  readonly controller: AbortController;
}

export class McpRelay {
  readonly #url: URL;
  readonly #context: Pick<ProcessContext, 'stdin' | 'stdout' | 'stderr'>;
  readonly #pending = new Map<PendingPost, Promise<void>>();
  /** Resolves when the last line is written and the client takes more. */
  #written: Promise<void> = Promise.resolve();
  /** The revision of MCP that `initialize` has negotiated. */
  #revision: string | undefined;

  constructor(url: URL, context: Pick<ProcessContext, 'stdin' | 'stdout' | 'stderr'>) {
    this.#url = url;
    this.#context = context;
  }

  /** Resolves after the input has ended and all requests except long-polling ones are answered. */
  async run(): Promise<void> {
    const { stdin, stdout } = this.#context;
    let isClientGone = false;
    stdout.once('error', () => {
      isClientGone = true;
      stdin.destroy();
    });
    try {
      for await (const line of splitLines(stdin)) {
        await this.#accept(line);
        await this.#waitForCapacity();
      }
    } catch (error) {
      this.#abort(() => true);
      if (!isClientGone) throw error;
    }
    this.#abort(({ info }) => info.isLongPolling);
    await Promise.all(this.#pending.values());
  }

  async #accept(line: MessageText): Promise<void> {
    if (line.fault !== undefined) {
      this.#context.stderr.write(`Cannot relay a message: ${line.fault.message}\n`);
      return await line[Symbol.asyncDispose]();
    }
    const info = inspectMessages(await line.messages());
    if (info.cancels !== undefined) this.#cancel(info.cancels);
    if (line.isBlank || info.cancels !== undefined) return await line[Symbol.asyncDispose]();
    const post = { info, ids: new Set(info.ids), controller: new AbortController() };
    const done = this.#forward(line, post).finally(() => this.#pending.delete(post));
    this.#pending.set(post, done);
  }

  async #waitForCapacity(): Promise<void> {
    const short = [...this.#pending].filter(([{ info }]) => !info.isLongPolling);
    if (short.length >= MAX_PENDING) await Promise.race(short.map(([, done]) => done));
  }

  #abort(matches: (post: PendingPost) => boolean): void {
    for (const post of this.#pending.keys()) if (matches(post)) post.controller.abort();
  }

  /** Without sessions, a request is cancelled by closing its connection. */
  #cancel(id: RequestId): void {
    for (const { ids, controller } of this.#pending.keys()) {
      if (ids.delete(id) && ids.size === 0) controller.abort();
    }
  }

  async #forward(line: MessageText, post: PendingPost): Promise<void> {
    await using _ = line;
    const { signal } = post.controller;
    let response: Response | undefined;
    try {
      response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...(this.#revision === undefined ? {} : { 'MCP-Protocol-Version': this.#revision }),
          ...post.info.headers,
        },
        body: line.whole ?? ReadableStream.from(line.chunks()),
        duplex: 'half',
        // The message is meant for the address that was given, and for no other.
        redirect: 'manual',
        signal,
      });
      await this.#relayResponse(response, post);
      if (post.ids.size > 0) await this.#fail(post, INTERRUPTED);
    } catch (error) {
      if (signal.aborted) return;
      const mayBeReceived = response !== undefined || isConnectionLost(error);
      const message =
        error instanceof TooLong ? error.message : `Cannot reach the gateway: ${describe(error)}`;
      const isKnown = error instanceof TooLong || !mayBeReceived;
      await this.#fail(post, isKnown ? { code: UNREACHABLE, message } : INTERRUPTED);
    }
  }

  async #relayResponse(response: Response, post: PendingPost): Promise<void> {
    const body: AsyncIterable<Uint8Array> = response.body ?? ReadableStream.from([]);
    const most = LONGEST_ANSWER * Math.max(1, post.info.ids.length);
    const longest = response.ok ? most : LONGEST_REFUSAL;
    if (response.ok && isEventStream(response)) {
      for await (const message of parseEvents(body, longest)) {
        await using text = message;
        await this.#relayMessage(text, post);
      }
      return;
    }
    await using text = new MessageText(longest);
    for await (const chunk of body) {
      await text.write(chunk);
      if (text.fault !== undefined) throw text.fault;
    }
    await text.end();
    const messages = (await text.messages()) ?? [];
    const answersRequest = answeredIds(messages).some((id) => post.ids.has(id));
    const answersNonMessage =
      post.ids.size === 0 && !post.info.isMessage && inspectMessages(messages).isMessage;
    if (answersRequest || answersNonMessage) await this.#relayMessage(text, post);
    else if (!response.ok || post.ids.size > 0) {
      await this.#fail(post, errorIn(messages) ?? unexpected(response, this.#url.href));
    }
  }

  /** Drops a message that is not JSON: the client could not parse it either. */
  async #relayMessage(text: MessageText, post: PendingPost): Promise<void> {
    if (text.fault !== undefined) throw text.fault;
    const messages = await text.messages();
    if (messages === undefined) return;
    if (post.info.isInitialize) this.#revision = negotiatedRevision(messages) ?? this.#revision;
    await this.#write(text.chunks());
    for (const id of answeredIds(messages)) post.ids.delete(id);
  }

  /** Answers all open requests of the post with the error; without requests, prints it. */
  async #fail({ info, ids }: PendingPost, error: JsonRpcError): Promise<void> {
    if (info.ids.length === 0) this.#context.stderr.write(`${error.message}\n`);
    for (const id of ids) {
      ids.delete(id);
      await this.#write([Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }))]);
    }
  }

  /** Writes one line after another. */
  async #write(line: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const written = this.#written.then(() => this.#writeLine(line));
    // If the file of a line cannot be read, the line is cut off, and the next one begins on a new line.
    this.#written = written.catch(() => writeChunk(this.#context.stdout, NEWLINE));
    await written;
  }

  async #writeLine(line: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const { stdout } = this.#context;
    let last: Uint8Array | undefined;
    for await (const chunk of line) {
      if (last !== undefined) await writeChunk(stdout, last);
      last = withoutBreaks(chunk);
    }
    await writeChunk(stdout, Buffer.concat([last ?? NEWLINE.subarray(1), NEWLINE]));
  }
}

/** Resolves when the chunk is written, or the client is gone. */
async function writeChunk(stdout: Writable, chunk: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stdout.write(chunk, () => resolve());
  await promise;
}

const INTERRUPTED: JsonRpcError = {
  code: UNREACHABLE,
  message: 'The gateway’s answer broke off, so it is not known what came of this. Try again.',
};

function isEventStream({ headers }: Response): boolean {
  return headers.get('Content-Type')?.startsWith('text/event-stream') === true;
}

function unexpected({ ok, status, statusText, headers }: Response, url: string): JsonRpcError {
  const location = headers.get('Location');
  const isRedirect = status >= 300 && status < 400 && location !== null;
  const target = isRedirect ? (URL.parse(location, url)?.href ?? location) : '';
  const outcome = isRedirect
    ? `it redirects to ${target}, and the message was not sent there. If that is the gateway, start "presence mcp" with --url ${target}`
    : `the server answered ${status} ${statusText}${ok ? ', but does not speak MCP' : ''}.`;
  return { code: UNREACHABLE, message: `Cannot reach a gateway at ${url}: ${outcome}` };
}

/** Whether the gateway may have received the request. */
function isConnectionLost(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && 'code' in cause && CONNECTION_LOST.has(cause.code);
}

const CONNECTION_LOST: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error)) return message;
  const code = 'code' in cause ? String(cause.code) : cause.name;
  return `${message}: ${cause.message === '' ? code : cause.message}`;
}
