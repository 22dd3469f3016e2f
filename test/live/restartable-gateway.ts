/**
 * A gateway that is ended and started again at the same address over the same folder, and visitors
 * who go on speaking all the while.
 */
import { setTimeout as pause } from 'node:timers/promises';

import { entryOf, KINDS, type Entry } from '../../conformance/entry.ts';
import { contactBody, Gateway, traceBody } from '../../conformance/gateway.ts';
import {
  dataFolder,
  freePort,
  startGatewayProcess,
  type GatewayProcess,
} from '../gateway-process.ts';

const AGAIN_MS = 20;

/** A gateway that can be ended in one of two ways and started again at the same address. */
export class RestartableGateway implements AsyncDisposable {
  readonly url: string;
  readonly #start: () => Promise<GatewayProcess>;
  readonly #owned: AsyncDisposableStack;
  #gateway: GatewayProcess;

  private constructor(
    gateway: GatewayProcess,
    start: () => Promise<GatewayProcess>,
    owned: AsyncDisposableStack,
  ) {
    this.url = gateway.url;
    this.#gateway = gateway;
    this.#start = start;
    this.#owned = owned;
  }

  static async start(): Promise<RestartableGateway> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(await dataFolder());
    const port = String(await freePort());
    const start = (): Promise<GatewayProcess> =>
      startGatewayProcess({ data: folder.path, args: ['--port', port] });
    const gateway = await start();
    return new RestartableGateway(gateway, start, opening.move());
  }

  /** SIGKILL, and another one at the same address. */
  async crash(): Promise<void> {
    await this.#gateway.kill();
    this.#gateway = await this.#start();
  }

  /** SIGTERM, and another one at the same address. */
  async restart(): Promise<void> {
    await this.#gateway.stop();
    this.#gateway = await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway[Symbol.asyncDispose]();
    await this.#owned.disposeAsync();
  }
}

/** Visitors who say one number after the other, each until it is acknowledged. */
export class Writers {
  readonly #visitor: Gateway;
  readonly #leaving = new AbortController();
  readonly #speaking: Promise<unknown>;
  #said = 0;

  constructor(url: string, count: number) {
    this.#visitor = new Gateway(url);
    this.#speaking = Promise.all(Array.from({ length: count }, () => this.#speak()));
    this.#speaking.catch(() => {});
  }

  /** Resolves with how much was said when all of it is acknowledged. */
  async finish(): Promise<number> {
    this.#leaving.abort();
    await this.#speaking;
    this.#visitor[Symbol.dispose]();
    return this.#said;
  }

  async #speak(): Promise<void> {
    while (!this.#leaving.signal.aborted) {
      const number = this.#said;
      this.#said += 1;
      while (!(await this.#say(number))) await pause(AGAIN_MS);
      await pause(number % 5);
    }
  }

  async #say(number: number): Promise<boolean> {
    const kind = KINDS[number % KINDS.length] ?? 'garden';
    const more = { number, text: 'ще тут '.repeat(number % 50 === 0 ? 3000 : number % 30) };
    const body =
      kind === 'resonance' ? contactBody('Мавка', ['it'], more) : traceBody('Lumen', more);
    try {
      const answer = await this.#visitor.post(kind, body, { 'idempotency-key': `key ${number}` });
      if (answer.status === 503) return false;
      answer.expect(201);
      return true;
    } catch (error) {
      if (isNetworkError(error)) return false;
      throw error;
    }
  }
}

/** Whether the system said so, not a check of an answer. */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(String(error.code));
}

/** Every entry that there is, oldest first, as the listings have it. */
export async function allEntries(url: string): Promise<Entry[]> {
  using visitor = new Gateway(url);
  const found: Entry[] = [];
  for (const kind of KINDS) {
    const headers = { accept: 'application/x-ndjson' };
    const { text } = (await visitor.get(`/api/${kind}?order=oldest`, headers)).expect(200);
    found.push(...text.split('\n').filter(Boolean).map(entryOf));
  }
  return found.toSorted((a, b) => a.seq - b.seq);
}
