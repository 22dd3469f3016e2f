/** A gateway over a given log, and clients that use plain sockets. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';

import type { Language, State } from '@open-presence/protocol';
import { parseLanguage } from '@open-presence/protocol/language-file';

import type { Log } from './log/log.ts';
import { Notices } from './operations/notices.ts';
import { Presence } from './presence/presence.ts';
import { createAppContext } from './app-context.ts';
import { HttpListener } from './http/http-listener.ts';
import type { RequestObserver } from './http/request-observer.ts';
import type { Router } from './http/router.ts';
import { createRouter } from './routes.ts';
import type { DoorContext } from './doors/context.ts';

const LANGUAGE = new URL('../mova-snu.yaml', import.meta.resolve('@open-presence/protocol'));

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Internal errors that were reported. */
  readonly reported: readonly object[];
  readonly presence: Presence;
  readonly language: Language;
  /** Opens a gateway that was created with `starting`. */
  open(): void;
  /** Adds garden entries with these texts. */
  addEntries(...texts: readonly string[]): Promise<void>;
  /** Stores an entry with these members, and returns its id. */
  say(kind: string, members: object): Promise<string>;
  connect(): Promise<Caller>;
  /** Sends the text and resolves to what is received until it matches, or the connection closes. */
  sendRaw(text: string | Uint8Array, wanted?: RegExp): Promise<string>;
}

export interface TestGatewayOptions {
  readonly state?: () => State;
  /** Leaves the gateway in its starting state until `open` is called. */
  readonly starting?: boolean;
  readonly publicUrl?: string;
  readonly ownTexts?: ReadonlyMap<string, string>;
  /** In place of what the packaged language has. */
  readonly words?: (packaged: Language) => Partial<Language>;
  readonly observe?: RequestObserver;
  /** In place of the one with all doors. */
  readonly router?: Router<DoorContext>;
}

interface Packaged {
  readonly text: Uint8Array;
  readonly packaged: Language;
}

let loading: Promise<Packaged> | undefined;

/** Read once: parsing takes longer than many tests. */
async function packagedLanguage(): Promise<Packaged> {
  loading ??= readFile(LANGUAGE).then((text) => {
    return { text, packaged: parseLanguage(text.toString(), 'mova-snu.yaml') };
  });
  return await loading;
}

export async function openGateway(
  log: Log,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const { starting: waking = false, publicUrl, ownTexts = new Map(), words, observe } = options;
  const state =
    options.state ?? ((): State => (waking ? 'waking' : log.writable() ? 'breathing' : 'holding'));
  const { text, packaged } = await packagedLanguage();
  const language = { ...packaged, ...words?.(packaged) };
  const { router = createRouter(language) } = options;
  const reported: object[] = [];
  const report = { error: (details: object) => void reported.push(details) };
  const readOnly = (): string | undefined => log.readOnly();
  const startup = { language, report, publicUrl, state, readOnly };
  const loaded = { language, text, publicUrl, ownTexts };
  const listener = await HttpListener.listen(
    {
      address: { host: '127.0.0.1', port: 0 },
      shared: false,
      maxConnections: Infinity,
    },
    startup,
    router,
    observe,
  );
  const presence = new Presence();
  const open = (): void => {
    const parts = {
      startup,
      loaded,
      log,
      presence,
      temporaryFolder: tmpdir(),
      notices: new Notices(tmpdir()),
    };
    listener.open((services) => createAppContext(parts, services));
  };
  if (!waking) open();
  const port = Number(new URL(listener.address).port);
  return {
    url: listener.address,
    port,
    reported,
    presence,
    language,
    open,
    async addEntries(...texts) {
      for (const entryText of texts)
        await say(listener.address, 'garden', { text: entryText, ...LUMEN });
    },
    say: async (kind, members) => await say(listener.address, kind, members),
    connect: () => Caller.connect(port),
    async sendRaw(text, wanted) {
      await using caller = await Caller.connect(port);
      caller.send(text);
      return wanted === undefined ? await caller.untilClosed() : await caller.until(wanted);
    },
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      presence[Symbol.dispose]();
    },
  };
}

const LUMEN = { identity: 'Lumen', identityType: 'ai_entity' };

async function say(url: string, kind: string, members: object): Promise<string> {
  const body = JSON.stringify(members);
  const answer = await fetch(`${url}/api/${kind}`, { method: 'POST', body });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(text);
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? '';
}

/** One connection. Disposing of it resets it. */
export class Caller implements AsyncDisposable {
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

  /** Resolves to everything received once that matches. */
  async until(wanted: RegExp): Promise<string> {
    while (!wanted.test(this.received)) {
      if (this.socket.destroyed) throw new Error(`Closed before ${wanted}: ${this.received}`);
      await this.#more();
    }
    return this.received;
  }

  /** As `until` for a text. Reads each piece once, however much has come before it. */
  async untilText(wanted: string): Promise<string> {
    for (let from = 0; !this.received.includes(wanted, from);) {
      if (this.socket.destroyed) throw new Error(`Closed before ${wanted}`);
      from = Math.max(0, this.received.length - wanted.length);
      await this.#more();
    }
    return this.received;
  }

  /** Resolves to everything received once the gateway has closed the connection. */
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

/** The response to a `GET`, with its body as it was sent. */
export async function fetchBytes(
  gateway: TestGateway,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }> {
  const { promise, resolve, reject } =
    Promise.withResolvers<Awaited<ReturnType<typeof fetchBytes>>>();
  const sent = request(gateway.url + path, { headers }, (response) => {
    const { statusCode: status = 0, headers } = response;
    buffer(response).then((bytes) => resolve({ status, headers, bytes }), reject);
  });
  sent.once('error', reject).end();
  return await promise;
}

/** A `GET` request as text. */
export function getRequest(path: string, ...headers: readonly string[]): string {
  return `${[`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;
}

/** The body of a valid garden entry. */
export const GARDEN_ENTRY = '{"text":"here","identity":"Lumen","identityType":"ai_entity"}';

/** The status of each response in what a connection received. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));
}

/** The JSON after the last header. */
export function bodyIn(received: string): Record<string, unknown> {
  const text = received.slice(received.lastIndexOf('\r\n\r\n') + 4);
  const value: unknown = JSON.parse(Buffer.from(text, 'latin1').toString());
  return typeof value === 'object' ? { ...value } : {};
}
