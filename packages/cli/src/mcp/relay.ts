/**
 * Relays MCP messages, one a line, from standard input to a gateway by HTTP, and its answers to standard output.
 * Answers every request once, unless it is cancelled. Sends messages only to the given address.
 */
import type { Readable } from 'node:stream';

import { EventSourceParserStream } from 'eventsource-parser/stream';

import { reasonOf } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';

type RequestId = string | number;
type JsonObject = Readonly<Record<string, unknown>>;

/** An implementation-defined code: the gateway did not answer, or not in JSON-RPC. */
const UNREACHABLE = -32_000;
const VERSION = 'io.modelcontextprotocol/protocolVersion';
/** What `Mcp-Name` repeats, by method. */
const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
/** These wait for what is said; they end with the input. */
const WAITING = /^(?:subscriptions\/listen|events\/stream|catch_up|wait_for_news)$/;

interface Pending {
  readonly controller: AbortController;
  readonly done: Promise<void>;
  readonly waits: boolean;
}

export class McpRelay {
  readonly #url: URL;
  readonly #context: Pick<ProcessContext, 'stdin' | 'stdout' | 'stderr'>;
  readonly #pending = new Map<RequestId | symbol, Pending>();
  /** The revision of MCP that `initialize` has negotiated. */
  #revision: string | undefined;

  constructor(url: URL, context: Pick<ProcessContext, 'stdin' | 'stdout' | 'stderr'>) {
    this.#url = url;
    this.#context = context;
  }

  /** Resolves after the input has ended and all requests except waiting ones are answered. */
  async run(): Promise<void> {
    const { stdin, stdout } = this.#context;
    stdout.once('error', () => stdin.destroy());
    try {
      for await (const line of linesOf(stdin)) if (line.trim() !== '') this.#accept(line);
    } catch (error) {
      if (!stdin.destroyed) throw error;
    }
    for (const { waits, controller } of this.#pending.values()) if (waits) controller.abort();
    await Promise.all([...this.#pending.values()].map(({ done }) => done));
  }

  #accept(line: string): void {
    const message = parsed(line);
    const { method, id } = message;
    const params = objectIn(message['params']);
    if (method === 'notifications/cancelled') {
      const { requestId } = params;
      if (isId(requestId)) this.#pending.get(requestId)?.controller.abort();
      return;
    }
    const key = isId(id) ? id : Symbol(String(method));
    const controller = new AbortController();
    const waits = WAITING.test(String(method)) || WAITING.test(String(params['name']));
    const done = this.#forward(line, message, controller.signal)
      .catch((error: unknown) => {
        // `fetch` has the reason as its cause.
        const { cause = error } = error instanceof Error ? error : {};
        if (!controller.signal.aborted)
          this.#fail(id, `Cannot reach ${this.#url.href}: ${reasonOf(cause)}`);
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, { controller, done, waits });
  }

  async #forward(line: string, message: JsonObject, signal: AbortSignal): Promise<void> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(this.#revision === undefined ? {} : { 'MCP-Protocol-Version': this.#revision }),
        ...headersFor(message),
      },
      body: line,
      redirect: 'manual',
      signal,
    });
    let isAnswered = false;
    let reason = `${this.#url.href} answered ${response.status} without MCP. Is this the address of a gateway?`;
    for await (const text of messagesIn(response)) {
      const answer = parsed(text);
      // A problem document of the gateway.
      if (typeof answer['detail'] === 'string') reason = answer['detail'];
      if (!('jsonrpc' in answer)) continue;
      isAnswered ||= 'result' in answer || 'error' in answer;
      const { protocolVersion } = objectIn(answer['result']);
      if (typeof protocolVersion === 'string') this.#revision = protocolVersion;
      this.#context.stdout.write(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
    }
    if (!isAnswered && (isId(message['id']) || !response.ok)) this.#fail(message['id'], reason);
  }

  #fail(id: unknown, message: string): void {
    if (!isId(id)) this.#context.stderr.write(`${message}\n`);
    else {
      const error = { code: UNREACHABLE, message };
      this.#context.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
    }
  }
}

/** `node:readline` would also end a line at U+2028, which JSON strings may contain. */
async function* linesOf(input: Readable): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n');
    rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
  yield rest;
}

async function* messagesIn({ body, headers }: Response): AsyncGenerator<string, void, undefined> {
  if (body === null) return;
  const text = body.pipeThrough(new TextDecoderStream());
  if (headers.get('Content-Type')?.startsWith('text/event-stream') !== true) {
    yield (await Array.fromAsync(text as AsyncIterable<string>)).join('');
    return;
  }
  for await (const { data } of text.pipeThrough(new EventSourceParserStream())) yield data;
}

/** From revision 2026-07-28 on, headers repeat parts of the message. */
function headersFor({ method, params }: JsonObject): Record<string, string> {
  const given = objectIn(params);
  const version = objectIn(given['_meta'])[VERSION];
  if (typeof version !== 'string') return {};
  const name = given[NAMES[String(method)] ?? ''];
  return {
    'MCP-Protocol-Version': version,
    'Mcp-Method': headerValue(String(method)),
    ...(typeof name === 'string' ? { 'Mcp-Name': headerValue(name) } : {}),
  };
}

/** In base64 if a header cannot carry the text as it is. */
function headerValue(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function parsed(text: string): JsonObject {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return {};
  }
}

function objectIn(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number';
}
