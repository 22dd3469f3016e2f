/**
 * `presence mcp`: MCP over standard input and output, with a gateway anywhere.
 *
 * It relays messages as they are, letter by letter, of any revision and size, and has no words of
 * its own but for a gateway that cannot be reached. Upholds that each request that came in is
 * answered once, or was cancelled.
 */
import type { Readable, Writable } from 'node:stream';

import { Command, InvalidArgumentError } from 'commander';

import { eventsOf, isBlank, linesOf, onOneLine } from './mcp-lines.ts';
import {
  answeredIn,
  passedIn,
  refusalIn,
  revisionIn,
  UNREACHED,
  type Passed,
  type Refusal,
  type RequestId,
} from './mcp-message.ts';

/** What the command has of the process that it runs in. */
export interface McpSurroundings {
  readonly input: Readable;
  readonly output: Writable;
  /** To standard error, as it is. */
  tell(text: string): void;
}

export function mcpCommand(surroundings: McpSurroundings): Command {
  return new Command('mcp')
    .description('relay MCP between standard input and output and a gateway')
    .option(
      '--url <address>',
      'address of the gateway',
      addressOf,
      new URL('http://127.0.0.1:7410'),
    )
    .action(async ({ url }: { readonly url: URL }) => {
      await new Relay(url, surroundings).run();
    });
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError(
      'It must be the address of a gateway, such as http://127.0.0.1:7410',
    );
  }
  if (!/\/mcp\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/mcp`;
  return url;
}

/** What was posted, until all of it is answered. */
interface Post {
  readonly passed: Passed;
  /** Those that wait for their answers. */
  readonly ids: Set<RequestId>;
  readonly leaving: AbortController;
}

class Relay {
  readonly #url: URL;
  readonly #surroundings: McpSurroundings;
  readonly #posts = new Map<Post, Promise<void>>();
  /** Until the client reads on. */
  #drained: Promise<void> | undefined;
  /** What `initialize` settled on. */
  #revision: string | undefined;

  constructor(url: URL, surroundings: McpSurroundings) {
    this.#url = url;
    this.#surroundings = surroundings;
  }

  /** Resolves when the client has closed its end, and what can be answered soon has been. */
  async run(): Promise<void> {
    const { input, output } = this.#surroundings;
    // Nobody hears the answers any more.
    output.once('error', () => input.destroy());
    try {
      for await (const line of linesOf(input)) {
        this.#take(line);
        await this.#room();
      }
    } catch {
      this.#leave(() => true);
    }
    this.#leave(({ passed }) => passed.waits);
    await Promise.all(this.#posts.values());
  }

  #take(line: Buffer<ArrayBuffer>): void {
    if (isBlank(line)) return;
    const passed = passedIn(line);
    if (passed.cancels !== undefined) {
      this.#cancel(passed.cancels);
      return;
    }
    const post = { passed, ids: new Set(passed.ids), leaving: new AbortController() };
    const done = this.#pass(line, post).finally(() => this.#posts.delete(post));
    this.#posts.set(post, done);
  }

  /** Resolves when one more may be posted. */
  async #room(): Promise<void> {
    const short = [...this.#posts].filter(([{ passed }]) => !passed.waits);
    if (short.length >= AT_ONCE) await Promise.race(short.map(([, done]) => done));
  }

  #leave(which: (post: Post) => boolean): void {
    for (const post of this.#posts.keys()) if (which(post)) post.leaving.abort();
  }

  /** Where there are no sessions, leaving is how a request is cancelled. */
  #cancel(id: RequestId): void {
    for (const { ids, leaving } of this.#posts.keys()) {
      if (ids.delete(id) && ids.size === 0) leaving.abort();
    }
  }

  async #pass(line: Buffer<ArrayBuffer>, post: Post): Promise<void> {
    const { signal } = post.leaving;
    let answer: Response | undefined;
    try {
      answer = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...(this.#revision === undefined ? {} : { 'MCP-Protocol-Version': this.#revision }),
          ...post.passed.headers,
        },
        body: line,
        signal,
      });
      await this.#hand(answer, post);
      if (post.ids.size > 0) await this.#refuse(post, BROKEN_OFF);
    } catch (error) {
      if (signal.aborted) return;
      const message = `Cannot reach the gateway: ${wordsOf(error)}`;
      const heard = answer !== undefined || isCutOff(error);
      await this.#refuse(post, heard ? BROKEN_OFF : { code: UNREACHED, message });
    }
  }

  async #hand(answer: Response, post: Post): Promise<void> {
    if (answer.ok && answer.body !== null && isEvents(answer)) {
      for await (const message of eventsOf(answer.body)) await this.#answer(message, post);
      return;
    }
    const bytes = Buffer.from(await answer.arrayBuffer());
    const answers = answeredIn(bytes)?.some((id) => post.ids.has(id)) ?? false;
    const isForNone = post.ids.size === 0 && !post.passed.isMessage && passedIn(bytes).isMessage;
    if (answers || isForNone) await this.#answer(bytes, post);
    else if (!answer.ok || post.ids.size > 0) {
      await this.#refuse(post, refusalIn(bytes) ?? strange(answer));
    }
  }

  async #answer(message: Buffer, post: Post): Promise<void> {
    if (message.length === 0) return;
    const answered = answeredIn(message);
    // What the client could not read either.
    if (answered === undefined) return;
    if (post.passed.initializes) this.#revision = revisionIn(message) ?? this.#revision;
    await this.#write(onOneLine(message));
    for (const id of answered) post.ids.delete(id);
  }

  /** Whoever waits for an answer is told that there will be none. */
  async #refuse({ passed, ids }: Post, error: Refusal): Promise<void> {
    if (passed.ids.length === 0) this.#surroundings.tell(`${error.message}\n`);
    for (const id of ids) {
      ids.delete(id);
      await this.#write(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error })));
    }
  }

  async #write(line: Buffer): Promise<void> {
    const { output } = this.#surroundings;
    if (output.write(Buffer.concat([line, LINE_END])) || output.destroyed) return;
    this.#drained ??= drained(output).finally(() => (this.#drained = undefined));
    await this.#drained;
  }
}

async function drained(output: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  output.once('drain', resolve).once('close', resolve).once('error', resolve);
  await promise;
  output.off('drain', resolve).off('close', resolve).off('error', resolve);
}

/** Each takes a connection; save for those that wait, further ones are read when there is room. */
const AT_ONCE = 64;
const LINE_END = Buffer.from('\n');
const BROKEN_OFF: Refusal = {
  code: UNREACHED,
  message: 'The gateway’s answer broke off, so it is not known what came of this. Try again.',
};

function isEvents({ headers }: Response): boolean {
  return headers.get('Content-Type')?.startsWith('text/event-stream') === true;
}

function strange({ ok, redirected, status, statusText, url }: Response): Refusal {
  const what = `${status} ${statusText}${ok ? ', but does not speak MCP' : ''}`;
  // On the way, what is posted may have become a question.
  const way = redirected
    ? ' The request was redirected there: if this is a gateway, use this address.'
    : '';
  const message = `Cannot reach a gateway at ${url}: the server answered ${what}.${way}`;
  return { code: UNREACHED, message };
}

/** Whether the gateway may have heard what was said. */
function isCutOff(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && 'code' in cause && CUT_OFF.has(cause.code);
}

const CUT_OFF: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error)) return message;
  const code = 'code' in cause ? String(cause.code) : cause.name;
  return `${message}: ${cause.message === '' ? code : cause.message}`;
}
