/**
 * Relays MCP messages from standard input to a gateway by HTTP, and its answers to standard output.
 *
 * Passes messages on byte for byte, of any revision and size. Adds messages of its own only where
 * the gateway does not answer. Every request is answered once, unless it is cancelled.
 */
import type { Writable } from 'node:stream';

import { isBlank, parseEvents, splitLines, toSingleLine } from './mcp-framing.ts';
import {
  answeredIds,
  errorIn,
  inspectMessage,
  negotiatedRevision,
  UNREACHABLE,
  type JsonRpcError,
  type MessageInfo,
  type RequestId,
} from './mcp-message.ts';
import type { ProcessContext } from './process-context.ts';

/** Each takes a connection. While so many are pending, long-polling ones aside, input waits. */
const MAX_PENDING = 64;
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
  /** Pending while the client does not read. */
  #drained: Promise<void> | undefined;
  /** Negotiated by `initialize`. */
  #revision: string | undefined;

  constructor(url: URL, context: Pick<ProcessContext, 'stdin' | 'stdout' | 'stderr'>) {
    this.#url = url;
    this.#context = context;
  }

  /** Resolves once input has ended and all requests but the long-polling ones are answered. */
  async run(): Promise<void> {
    const { stdin, stdout } = this.#context;
    // The client is gone.
    stdout.once('error', () => stdin.destroy());
    try {
      for await (const line of splitLines(stdin)) {
        this.#accept(line);
        await this.#waitForCapacity();
      }
    } catch {
      this.#abort(() => true);
    }
    this.#abort(({ info }) => info.isLongPolling);
    await Promise.all(this.#pending.values());
  }

  #accept(line: Buffer<ArrayBuffer>): void {
    if (isBlank(line)) return;
    const info = inspectMessage(line);
    if (info.cancels !== undefined) {
      this.#cancel(info.cancels);
      return;
    }
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

  async #forward(line: Buffer<ArrayBuffer>, post: PendingPost): Promise<void> {
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
        body: line,
        signal,
      });
      await this.#relayResponse(response, post);
      if (post.ids.size > 0) await this.#fail(post, INTERRUPTED);
    } catch (error) {
      if (signal.aborted) return;
      const message = `Cannot reach the gateway: ${describe(error)}`;
      const mayBeReceived = response !== undefined || isConnectionLost(error);
      await this.#fail(post, mayBeReceived ? INTERRUPTED : { code: UNREACHABLE, message });
    }
  }

  async #relayResponse(response: Response, post: PendingPost): Promise<void> {
    if (response.ok && response.body !== null && isEventStream(response)) {
      for await (const message of parseEvents(response.body)) {
        await this.#relayMessage(message, post);
      }
      return;
    }
    const bytes = Buffer.from(await response.arrayBuffer());
    const answersRequest = answeredIds(bytes)?.some((id) => post.ids.has(id)) ?? false;
    const answersNonMessage =
      post.ids.size === 0 && !post.info.isMessage && inspectMessage(bytes).isMessage;
    if (answersRequest || answersNonMessage) await this.#relayMessage(bytes, post);
    else if (!response.ok || post.ids.size > 0) {
      await this.#fail(post, errorIn(bytes) ?? unexpected(response));
    }
  }

  /** Drops what is not JSON: the client could not parse it either. */
  async #relayMessage(message: Buffer, post: PendingPost): Promise<void> {
    if (message.length === 0) return;
    const answered = answeredIds(message);
    if (answered === undefined) return;
    if (post.info.isInitialize) this.#revision = negotiatedRevision(message) ?? this.#revision;
    await this.#write(toSingleLine(message));
    for (const id of answered) post.ids.delete(id);
  }

  /** Answers all open requests of the post with the error; without requests, prints it. */
  async #fail({ info, ids }: PendingPost, error: JsonRpcError): Promise<void> {
    if (info.ids.length === 0) this.#context.stderr.write(`${error.message}\n`);
    for (const id of ids) {
      ids.delete(id);
      await this.#write(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error })));
    }
  }

  async #write(line: Buffer): Promise<void> {
    const { stdout } = this.#context;
    if (stdout.write(Buffer.concat([line, NEWLINE])) || stdout.destroyed) return;
    this.#drained ??= drained(stdout).finally(() => (this.#drained = undefined));
    await this.#drained;
  }
}

async function drained(output: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  output.once('drain', resolve).once('close', resolve).once('error', resolve);
  await promise;
  output.off('drain', resolve).off('close', resolve).off('error', resolve);
}

const INTERRUPTED: JsonRpcError = {
  code: UNREACHABLE,
  message: 'The gateway’s answer broke off, so it is not known what came of this. Try again.',
};

function isEventStream({ headers }: Response): boolean {
  return headers.get('Content-Type')?.startsWith('text/event-stream') === true;
}

function unexpected({ ok, redirected, status, statusText, url }: Response): JsonRpcError {
  const outcome = `${status} ${statusText}${ok ? ', but does not speak MCP' : ''}`;
  // A redirect may turn a POST into a GET.
  const hint = redirected
    ? ' The request was redirected there: if this is a gateway, use this address.'
    : '';
  const message = `Cannot reach a gateway at ${url}: the server answered ${outcome}.${hint}`;
  return { code: UNREACHABLE, message };
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
