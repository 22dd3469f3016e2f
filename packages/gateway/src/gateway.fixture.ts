/** An open door over a log, and callers that talk to it over bare sockets. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

import type { State } from '@open-presence/protocol';
import { parseLanguage } from '@open-presence/protocol/language-file';

import type { Log } from './log/log.ts';
import { logState } from './log-state.ts';
import { Presence } from './presence/presence.ts';
import { createAppContext } from './app-context.ts';
import { HttpListener } from './http/http-listener.ts';
import { createRouter } from './routes.ts';

const LANGUAGE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** What the door reported as its own faults. */
  readonly reported: readonly object[];
  readonly presence: Presence;
  /** Lets in those who came while it was waking. */
  open(): void;
  /** Adds garden entries with these texts. */
  addEntries(...texts: readonly string[]): Promise<void>;
  connect(): Promise<Caller>;
  /** Sends requests in this text, and all that comes back until the door closes or `wanted`. */
  sendRaw(text: string | Uint8Array, wanted?: RegExp): Promise<string>;
}

export interface TestGatewayOptions {
  readonly state?: () => State;
  /** Not let in yet. */
  readonly starting?: boolean;
  readonly publicUrl?: string;
}

export async function openGateway(
  log: Log,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const { starting: waking = false, publicUrl } = options;
  const state = options.state ?? ((): State => (waking ? 'waking' : logState(log.writable())));
  const text = await readFile(LANGUAGE);
  const language = parseLanguage(text.toString(), 'mova-snu.yaml');
  const reported: object[] = [];
  const report = { error: (details: object) => void reported.push(details) };
  const startup = { language, report, publicUrl, state };
  const loaded = { language, text };
  const door = await HttpListener.listen(
    { host: '127.0.0.1', port: 0, shared: false, maxConnections: Infinity },
    startup,
    createRouter(),
  );
  const presence = new Presence();
  const awake = (): void => {
    door.open((services) => createAppContext({ startup, loaded, log, presence }, services));
  };
  if (!waking) awake();
  const port = Number(new URL(door.address).port);
  return {
    url: door.address,
    port,
    reported,
    presence,
    open: awake,
    async addEntries(...texts) {
      for (const one of texts) await sayTo(door.address, one);
    },
    connect: () => Caller.connect(port),
    async sendRaw(text, wanted) {
      await using caller = await Caller.connect(port);
      caller.send(text);
      return wanted === undefined ? await caller.untilClosed() : await caller.until(wanted);
    },
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      presence[Symbol.dispose]();
    },
  };
}

async function sayTo(url: string, text: string): Promise<void> {
  const body = JSON.stringify({ text, identity: 'Lumen', identityType: 'ai_entity' });
  const answer = await fetch(`${url}/api/garden`, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

/** One connection. Disposing of it breaks it off. */
class Caller implements AsyncDisposable {
  readonly socket: Socket;
  received = '';
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
      this.#wake();
    });
    socket.on('error', () => this.#wake());
    socket.on('close', () => this.#wake());
  }

  static async connect(port: number): Promise<Caller> {
    const { promise, resolve, reject } = Promise.withResolvers<Caller>();
    const socket = connect({ host: '127.0.0.1', port }, () => resolve(new Caller(socket)));
    socket.once('error', reject);
    return await promise;
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Resolves to all that came so far once it matches. */
  async until(wanted: RegExp): Promise<string> {
    while (!wanted.test(this.received)) {
      if (this.socket.destroyed) throw new Error(`Closed before ${wanted}: ${this.received}`);
      await this.#more();
    }
    return this.received;
  }

  /** Resolves to all that came, once the door has closed. */
  async untilClosed(): Promise<string> {
    while (!this.socket.destroyed) await this.#more();
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }
}

/** The answer to a `GET`, with its bytes as they were sent. */
export async function fetchBytes(
  door: TestGateway,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }> {
  const { promise, resolve, reject } =
    Promise.withResolvers<Awaited<ReturnType<typeof fetchBytes>>>();
  const asking = request(door.url + path, { headers }, (answer) => {
    const { statusCode: status = 0, headers } = answer;
    buffer(answer).then((bytes) => resolve({ status, headers, bytes }), reject);
  });
  asking.once('error', reject).end();
  return await promise;
}

/** A request without a body. */
export function getRequest(path: string, ...headers: readonly string[]): string {
  return `${[`GET ${path} HTTP/1.1`, 'Host: presence', ...headers].join('\r\n')}\r\n\r\n`;
}

/** A garden entry that is accepted. */
export const GARDEN_ENTRY = '{"text":"here","identity":"Lumen","identityType":"ai_entity"}';

/** The status of each answer in what a connection received. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
}

/** The JSON after the last header. */
export function bodyIn(received: string): Record<string, unknown> {
  const text = received.slice(received.lastIndexOf('\r\n\r\n') + 4);
  const value: unknown = JSON.parse(Buffer.from(text, 'latin1').toString());
  return typeof value === 'object' ? { ...value } : {};
}
