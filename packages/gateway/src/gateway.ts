/**
 * The composition root: the one place that knows which store runs behind which doors.
 *
 * Owns the order of waking and resting. Upholds that nothing is served before the log is whole,
 * that what is under way when the gateway rests is finished before the log is closed, and that a
 * start that fails leaves nothing open.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';

import type { State } from '@open-presence/protocol';
import type { Logger } from 'pino';

import { appContextOf, HttpListener } from './http/http-listener.ts';
import { connectionLimit } from './connection-limit.ts';
import type { FromHttpThread, HttpStart, ToHttpThread } from './http-worker.ts';
import type { Log } from './log/log.ts';
import { logState } from './log-state.ts';
import { Presence } from './presence/presence.ts';
import { loadLanguage } from './load-language.ts';
import { openSqliteLog } from './stores/sqlite/store.ts';

export type { LogFault } from './stores/sqlite/log/chain-verifier.ts';
export { verifyLog, type VerifyEvent, type VerifyResult } from './stores/sqlite/log/verify.ts';

export interface GatewayConfig {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Folder of the log, made if it is not there. */
  readonly data: string;
  /** Path of a language file; without one, the language that comes with the gateway. */
  readonly language: string | undefined;
  /** Where visitors reach the gateway, for links that have to be absolute; without it, their `Host`. */
  readonly publicUrl?: string | undefined;
  /** Threads that serve visitors, this one among them. */
  readonly threads: number;
  readonly logger: Logger;
}

/** A gateway that is awake. Disposing of it lets it rest: resolves when all is finished. */
export interface Gateway extends AsyncDisposable {
  /** `http://127.0.0.1:7410` */
  readonly address: string;
  state(): State;
}

const SAID = {
  holding: 'holding: entries cannot be stored now; reading goes on',
  breathing: 'breathing: entries can be stored again',
} as const;

const NO_WORDS = 'search: what is said now cannot be searched; trying again';
const WORDS_AGAIN = 'search: words are read again';

/**
 * Resolves when the gateway serves. Rejects with `LanguageError` for a language file that cannot
 * be used, and with the error of the system for an address or folder that cannot.
 */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const { host, data: folder, publicUrl, logger: report } = config;
  const spoken = await loadLanguage(config.language);
  const app: { log?: Log; awake: boolean; resting: boolean } = { awake: false, resting: false };
  const state = (): State => {
    if (app.resting) return 'resting';
    if (!app.awake || app.log === undefined) return 'waking';
    return logState(app.log.writable());
  };
  const shared = config.threads > 1;
  const port = shared ? await freePort(host, config.port) : config.port;
  // What is opened from here on, a few files for each thread, comes out of what is kept for the store.
  const most = Math.ceil((await connectionLimit()) / config.threads);
  const place = { host, port, shared, most };
  const channel = shared ? randomUUID() : undefined;
  // Disposed of in reverse: the log is closed when nobody is at the door any more.
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => app.log?.[Symbol.asyncDispose]());
  const presence = opened.use(new Presence(channel));
  const startup = { language: spoken.language, report, publicUrl, state };
  const door = opened.use(await HttpListener.listen(place, startup));
  const log = await openSqliteLog({
    folder,
    onWritableChange: (writable) => {
      const status = logState(writable);
      report.warn({ status }, SAID[status]);
    },
    onSearchFailure: (why) => report.warn({ why }, why === undefined ? WORDS_AGAIN : NO_WORDS),
  });
  app.log = log;
  const others = opened.use(new AsyncDisposableStack());
  for (let count = 1; count < config.threads; count += 1) {
    const start = { place, log: log.connect(), publicUrl, channel };
    const { text } = spoken;
    others.use(await HttpThread.start({ ...start, text, language: config.language }, report));
  }
  door.open(appContextOf({ ...spoken, report, publicUrl, state, log, presence }));
  app.awake = true;
  const rest = opened.move();
  return {
    address: door.address,
    state,
    async [Symbol.asyncDispose]() {
      app.resting = true;
      // All doors close at once, so that nobody is dealt out to one that stays open.
      await Promise.all([others.disposeAsync(), door[Symbol.asyncDispose]()]);
      await rest.disposeAsync();
    },
  };
}

/**
 * The port, or one that is free for 0. Throws where it is taken: among those who share a port, the
 * system would not say so, and deal out our visitors to another gateway.
 */
async function freePort(host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer().once('error', reject).listen({ host, port }, resolve);
  await promise;
  const address = server.address();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  server.close(() => close());
  await closed;
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** A further thread that serves visitors. Disposing of it lets it rest. */
class HttpThread implements AsyncDisposable {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async start(start: HttpStart, report: Logger): Promise<HttpThread> {
    const worker = new Worker(new URL('http-worker.ts', import.meta.url), {
      workerData: start,
      transferList: [start.log.writer, start.log.words],
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    worker.once('error', reject);
    worker.on('message', (message: FromHttpThread) => {
      if (message === 'serving') resolve();
      else report.error(message.details, message.text);
    });
    await promise;
    worker.off('error', reject);
    worker.on('error', (error) => {
      // It ends by itself only by a fault of ours: better no gateway than half of one.
      throw error;
    });
    return new HttpThread(worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('rest' satisfies ToHttpThread);
    await ended;
  }
}
