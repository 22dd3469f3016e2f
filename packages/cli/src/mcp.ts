/**
 * `presence mcp`: MCP over standard input and output, with a gateway anywhere.
 *
 * It relays messages as they are, of any revision and size, and has no words of its own but for a
 * gateway that cannot be reached.
 */
import type { Readable, Writable } from 'node:stream';

import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Command, InvalidArgumentError } from 'commander';

/** What the command has of the process that it runs in. */
export interface McpSurroundings {
  readonly input: Readable;
  readonly output: Writable;
  /** To standard error, as it is. */
  tell(text: string): void;
}

export function mcpCommand(surroundings: McpSurroundings): Command {
  return new Command('mcp')
    .description('speak MCP over standard input and output, with a gateway anywhere')
    .option(
      '--url <address>',
      'address of the gateway',
      addressOf,
      new URL('http://127.0.0.1:7410'),
    )
    .action(async ({ url }: { readonly url: URL }) => {
      // Heavy to load, and of no use to the other commands.
      const [{ StreamableHTTPClientTransport }, { StdioServerTransport }] = await Promise.all([
        import('@modelcontextprotocol/client'),
        import('@modelcontextprotocol/server/stdio'),
      ]);
      const { input, output } = surroundings;
      const near = new StdioServerTransport(input, output, { maxBufferSize: Infinity });
      await new Relay(near, new StreamableHTTPClientTransport(url), surroundings).run();
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

/** Not among those of JSON-RPC: the gateway did not answer. */
const UNREACHED = -32_000;

class Relay {
  readonly #near: StdioServerTransport;
  readonly #far: StreamableHTTPClientTransport;
  readonly #surroundings: McpSurroundings;
  /** Requests that wait for their answers. */
  readonly #waiting = new Map<RequestId, AbortController>();

  constructor(
    near: StdioServerTransport,
    far: StreamableHTTPClientTransport,
    surroundings: McpSurroundings,
  ) {
    this.#near = near;
    this.#far = far;
    this.#surroundings = surroundings;
  }

  /** Resolves when the client has closed its end. */
  async run(): Promise<void> {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    this.#near.onmessage = (message) => void this.#pass(message);
    this.#near.onclose = close;
    this.#near.onerror = (error) => this.#tell(error);
    this.#far.onmessage = (message) => void this.#answer(message);
    await this.#far.start();
    await this.#near.start();
    await closed;
    await this.#far.close();
  }

  async #pass(message: JSONRPCMessage): Promise<void> {
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.#cancel(message.params?.['requestId']);
      return;
    }
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const leaving = new AbortController();
    if (id !== undefined) this.#waiting.set(id, leaving);
    try {
      await this.#far.send(message, {
        requestSignal: leaving.signal,
        onRequestStreamEnd: () => void this.#fail(id, new Error(BROKEN_OFF)),
      });
    } catch (error) {
      if (!leaving.signal.aborted) await this.#fail(id, error);
    }
  }

  /** Where there are no sessions, leaving is how a request is cancelled. */
  #cancel(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    this.#waiting.get(id)?.abort();
    this.#waiting.delete(id);
  }

  async #answer(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message) && message.id !== undefined) this.#waiting.delete(message.id);
    if ('result' in message) {
      const { protocolVersion } = message.result;
      if (typeof protocolVersion === 'string') this.#far.setProtocolVersion(protocolVersion);
    }
    await this.#near.send(message);
  }

  /** Whoever waits for an answer is told that there will be none. */
  async #fail(id: RequestId | undefined, error: unknown): Promise<void> {
    if (id === undefined) {
      this.#tell(error);
      return;
    }
    if (!this.#waiting.delete(id)) return;
    await this.#near.send(
      refusalIn(error, id) ?? {
        jsonrpc: '2.0',
        id,
        error: { code: UNREACHED, message: `Cannot reach the gateway: ${wordsOf(error)}` },
      },
    );
  }

  #tell(error: unknown): void {
    this.#surroundings.tell(`${wordsOf(error)}\n`);
  }
}

const BROKEN_OFF = 'its answer broke off. Ask again';

/** The gateway's own error, where its answer was one. */
function refusalIn(error: unknown, id: RequestId): JSONRPCMessage | undefined {
  if (!(error instanceof Error) || !('data' in error)) return undefined;
  const { data } = error;
  if (typeof data !== 'object' || data === null || !('text' in data)) return undefined;
  try {
    const answer: unknown = JSON.parse(String(data.text));
    if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined;
    const { error: said } = answer;
    if (typeof said !== 'object' || said === null) return undefined;
    if (!('code' in said) || !('message' in said)) return undefined;
    return {
      jsonrpc: '2.0',
      id,
      error: {
        code: Number(said.code),
        message: String(said.message),
        ...('data' in said ? { data: said.data } : {}),
      },
    };
  } catch {
    return undefined;
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
