/**
 * How the owner of a data folder reaches the gateway that runs on it: HTTP over the socket
 * `control.sock` in the folder, which the system opens for its owner only.
 *
 * Owns the socket. Refuses to know what is asked for there. Upholds that nobody else can connect at
 * any moment, and that nothing of it can be reached over the network.
 *
 * Invariant: Only the owner of the data folder can have an entry withheld.
 * Test: `test/withhold/withhold.test.ts` “is for its owner alone, and not reached over the network”
 */
import { once } from 'node:events';
import { chmod, lstat, mkdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { platform } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

import type { Logger } from 'pino';

import { createServer } from '../http/connection/node-http.ts';
import type { ControlOperations } from './operations.ts';
import { openSocketPath, SOCKET } from './socket-path.ts';

/** The socket is made in a folder of this name that only its owner may enter, and moved when it is ready. */
const UNFINISHED = 'control.new';

export class ControlServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #operations: ControlOperations;
  readonly #stop = new AbortController();
  readonly #responding = new Set<Promise<void>>();

  private constructor(operations: ControlOperations) {
    this.#operations = operations;
    this.#server = createServer((request, response) => {
      // The caller has left, or has sent no JSON.
      this.#receive(request, response).catch(() => response.destroy());
    });
    this.#server.requestTimeout = 0;
  }

  /**
   * Replaces the socket of an earlier process: the caller has the folder's lock. If that fails, logs it and
   * returns undefined.
   */
  static async open(
    folder: string,
    operations: ControlOperations,
    logger: Pick<Logger, 'warn'>,
  ): Promise<AsyncDisposable | undefined> {
    if (platform() === 'win32') return undefined;
    try {
      return await ControlServer.#open(folder, operations);
    } catch (error) {
      logger.warn({ err: error }, `${SOCKET} cannot be made: to withhold, stop the gateway first`);
      return undefined;
    }
  }

  static async #open(folder: string, operations: ControlOperations): Promise<AsyncDisposable> {
    await using opened = new AsyncDisposableStack();
    const unfinished = join(folder, UNFINISHED);
    const remove = (): Promise<void> => rm(unfinished, { recursive: true, force: true });
    await remove();
    opened.defer(remove);
    await mkdir(unfinished, { mode: 0o700 });
    // When the server ends, the system removes what is at this path: nothing, since the socket was moved.
    const { path: listenPath } = opened.use(await openSocketPath(unfinished));
    const server = opened.use(new ControlServer(operations));
    server.#server.listen(listenPath);
    await once(server.#server, 'listening');
    await chmod(join(unfinished, SOCKET), 0o600);
    const path = join(folder, SOCKET);
    await rename(join(unfinished, SOCKET), path);
    await remove();
    const { ino } = await lstat(path);
    opened.defer(() => removeSocket(path, ino));
    return opened.move();
  }

  /** Ends what only reads; resolves when the operations in progress have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('The gateway is shutting down.'));
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await Promise.allSettled(this.#responding);
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Connection', 'close');
    const operation = this.#operations[request.url ?? ''];
    if (request.method !== 'POST' || operation === undefined) {
      response.writeHead(404).end();
      return;
    }
    const body = await json(request);
    const left = new AbortController();
    response.once('close', () => left.abort(new Error('The caller has left.')));
    const signal = AbortSignal.any([left.signal, this.#stop.signal]);
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    const responding = pipeline(
      linesOf(() => operation(body, signal)),
      response,
    );
    this.#responding.add(responding);
    await responding.finally(() => this.#responding.delete(responding));
  }
}

async function* linesOf(start: () => AsyncIterable<string>): AsyncGenerator<string> {
  try {
    for await (const event of start()) yield `${event}\n`;
  } catch (error) {
    yield `${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`;
  }
}

/** Leaves the socket of another process, where the folder was moved and is used anew. */
async function removeSocket(path: string, ino: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.ino === ino) await rm(path, { force: true });
}
