/**
 * The composition root: opens the store, the doors and the threads that serve them.
 *
 * Owns the order of startup and shutdown. Upholds that the gateway listens once its log is open, or
 * after two seconds, that nothing is served before the log is open, that requests in progress are
 * finished before the log is closed, and that a failed start leaves nothing open.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import type { State } from '@open-presence/protocol';
import type { Logger } from 'pino';

import { createAppContext } from './app-context.ts';
import type { DoorContext } from './doors/context.ts';
import { HttpListener } from './http/http-listener.ts';
import { connectionLimit } from './connection-limit.ts';
import type { FromHttpWorker, HttpWorkerStart, ToHttpWorker } from './http-worker.ts';
import type { ListenOptions } from './http/server.ts';
import type { Log } from './log/log.ts';
import { logState } from './log-state.ts';
import { Presence } from './presence/presence.ts';
import { createRouter } from './routes.ts';
import { collectGarbageWhenIdle } from './idle-memory.ts';
import { loadLanguage } from './load-language.ts';
import { dataPathsIn } from './stores/sqlite/data-paths.ts';
import type { ClockReport, StoreChange } from './stores/sqlite/store-thread.ts';
import { openSqliteLog, type OwnedLog } from './stores/sqlite/store.ts';

export type { LogFault } from './stores/sqlite/log/chain-verifier.ts';
export { repairLog } from './stores/sqlite/log/repair.ts';
export { verifyLog, type VerifyEvent, type VerifyResult } from './stores/sqlite/log/verify.ts';
export type { DerivedFault } from './stores/sqlite/index/verify-index.ts';
export { scrubProgress, type ScrubProgress } from './stores/sqlite/damage/scrub-progress.ts';
export { verifyDerived } from './stores/sqlite/verify-derived.ts';

export interface GatewayConfig {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Folder of the log; created if missing. */
  readonly data: string;
  /** Path of a language file; without one, the language that comes with the gateway. */
  readonly language: string | undefined;
  /** Public address for absolute links; without it, the caller's `Host`. */
  readonly publicUrl?: string | undefined;
  /** Threads that serve visitors, including this one. */
  readonly threads: number;
  /** Threads in libuv's pool (`UV_THREADPOOL_SIZE`): uploads take half of them at most. */
  readonly fileThreads?: number | undefined;
  readonly logger: Logger;
  /** Whether to serve what is there if the log has lost entries. Without it, the start fails. */
  readonly acceptLoss?: boolean;
  /** Whether the clock is right although it is far ahead. Without it, the start fails. */
  readonly acceptClock?: boolean;
  /** Called about once a second while the gateway listens, but is still reading its log. */
  readonly onWaking?: (progress: WakingProgress) => void;
}

export interface WakingProgress {
  readonly address: string;
  /** The newest entry that has been read. */
  readonly indexed: number;
  /** The newest entry of the log; 0 until the log has been opened. */
  readonly head: number;
}

/** A running gateway. Disposing of it stops it: resolves when all requests are finished. */
export interface Gateway extends AsyncDisposable {
  /** `http://127.0.0.1:7410` */
  readonly address: string;
  state(): State;
}

/** A gateway that needs longer to read its log listens meanwhile, so that callers wait for it. */
const LISTEN_EARLY_AFTER_MS = 2000;

const CHANGES: Readonly<Record<StoreChange['part'], { failing: string; working: string }>> = {
  storing: {
    failing: 'holding: entries cannot be stored now; reading goes on',
    working: 'breathing: entries can be stored again',
  },
  lastCommit: {
    failing: 'last-commit cannot be written: a start could not tell that the log has lost entries',
    working: 'last-commit is written again',
  },
  uploads: {
    failing: 'uploads: large entries cannot be written',
    working: 'uploads: large entries are written again',
  },
  index: {
    failing: 'index: what is said now cannot be indexed, and is found without; trying again',
    working: 'index: entries are indexed again',
  },
  search: {
    failing: 'search: what is said now cannot be searched; trying again',
    working: 'search: words are read again',
  },
  derived: {
    failing: 'index: what is spoiled is made again from the log; reading goes on',
    working: 'index: what was spoiled has been made again',
  },
  keys: {
    failing: 'log: the table of idempotency keys lacked an entry, and is put right',
    working: 'log: the table of idempotency keys has been put right',
  },
  entry: {
    failing: 'log: an entry cannot be read; "presence repair" can put back a large one',
    working: 'log: an entry can be read again',
  },
};

const LOSS_ACCEPTED =
  'entries are lost, as accepted: the log goes on under a new name, and what is known of them was moved aside';

/**
 * Resolves when the gateway serves. Rejects with `LanguageError` for a language file that cannot
 * be used, and with the error of the system for an address or folder that cannot.
 */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const { publicUrl, logger: report } = config;
  const loaded = await loadLanguage(config.language);
  const lifecycle: { log?: Log; serving: boolean; stopping: boolean } = {
    serving: false,
    stopping: false,
  };
  const state = (): State => {
    if (lifecycle.stopping) return 'resting';
    if (!lifecycle.serving || lifecycle.log === undefined) return 'waking';
    return logState(lifecycle.log.writable());
  };
  const listen = await listenOptions(config);
  const channel = listen.shared ? randomUUID() : undefined;
  const unreadable = (): number => lifecycle.log?.damage().unreadable ?? 0;
  const startup = { language: loaded.language, report, publicUrl, state, unreadable };
  // Disposed of in reverse order: the log is closed last.
  await using opened = new AsyncDisposableStack();
  let early: HttpListener<DoorContext> | undefined;
  const opening = openLog(config, (indexed, head) => {
    if (early !== undefined) config.onWaking?.({ address: early.address, indexed, head });
  });
  opened.defer(async () => (await opening.catch(() => undefined))?.[Symbol.asyncDispose]());
  opened.use(collectGarbageWhenIdle());
  const presence = opened.use(new Presence(channel));
  const startListening = async (): Promise<HttpListener<DoorContext>> => {
    if (listen.shared) await freePort(listen.host, listen.port);
    return opened.use(await HttpListener.listen(listen, startup, createRouter()));
  };
  if (!(await settlesWithin(opening, LISTEN_EARLY_AFTER_MS))) early = await startListening();
  const log = await opening;
  lifecycle.log = log;
  const listener = early ?? (await startListening());
  const { incoming: temporaryFolder } = dataPathsIn(config.data);
  const parts = { startup, loaded, log, presence, temporaryFolder };
  listener.open((services) => createAppContext(parts, services));
  lifecycle.serving = true;
  const workers = opened.use(new AsyncDisposableStack());
  for (let count = 1; count < config.threads; count += 1) {
    const start = { listen, log: log.connect(), publicUrl, channel, temporaryFolder };
    const { text } = loaded;
    workers.use(await HttpWorker.start({ ...start, text, language: config.language }, report));
  }
  const rest = opened.move();
  return {
    address: listener.address,
    state,
    async [Symbol.asyncDispose]() {
      lifecycle.stopping = true;
      // All listeners close at once, so that no new connection reaches one that stays open.
      await Promise.all([workers.disposeAsync(), listener[Symbol.asyncDispose]()]);
      await rest.disposeAsync();
    },
  };
}

function openLog(
  {
    data: folder,
    fileThreads,
    logger: report,
    acceptLoss = false,
    acceptClock = false,
  }: GatewayConfig,
  onProgress: (indexed: number, head: number) => void,
): Promise<OwnedLog> {
  return openSqliteLog({
    folder,
    fileThreads,
    onProgress,
    onChange: ({ part, seq, cause }) => {
      const status = part === 'storing' ? { status: logState(cause === undefined) } : {};
      const { failing, working } = CHANGES[part];
      report.warn(
        { ...status, ...(seq === undefined ? {} : { seq }), ...cause },
        cause === undefined ? working : failing,
      );
    },
    acceptLoss,
    onAcceptedLoss: (loss) => report.warn(loss, LOSS_ACCEPTED),
    acceptClock,
    onVerified: (entries) =>
      report.info({ entries }, 'log: all entries were verified in the background'),
    onClock: (clock) => report.warn(clock, describeClock(clock)),
  });
}

/** In the log, with the milliseconds of the report. */
function describeClock({ jump }: ClockReport): string {
  if (jump > 0)
    return 'clock: it has jumped ahead; entries get its time, and later ones no earlier time';
  if (jump < 0) return 'clock: it was set back; entries go on from the newest time';
  return 'clock: it is behind the newest entry; entries go on from that time';
}

/** Rejects if the promise rejects within that time. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController();
  try {
    const timeout = sleep(ms, false, { signal: settled.signal });
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    settled.abort();
  }
}

async function listenOptions({ host, port, threads }: GatewayConfig): Promise<ListenOptions> {
  const shared = threads > 1;
  // Before the log is opened, so that a port that is taken is reported at once.
  const free = port > 0 || shared ? await freePort(host, port) : port;
  return {
    host,
    port: free,
    shared,
    // Files opened later use the descriptors that are reserved for the store.
    maxConnections: Math.ceil((await connectionLimit()) / threads),
  };
}

/**
 * The port, or one that is free for 0. Throws where it is taken: among those who share a port, the
 * system would not say so, and deal out our visitors to another gateway.
 */
async function freePort(host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer((socket) => socket.destroy());
  server.once('error', reject).listen({ host, port }, resolve);
  await promise;
  const address = server.address();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  server.close(() => close());
  await closed;
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** A further thread that serves visitors. Disposing of it stops it. */
class HttpWorker implements AsyncDisposable {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async start(start: HttpWorkerStart, report: Logger): Promise<HttpWorker> {
    const worker = new Worker(new URL('http-worker.ts', import.meta.url), {
      workerData: start,
      transferList: [start.log.writer, start.log.words, start.log.index],
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    worker.once('error', reject);
    worker.on('message', (message: FromHttpWorker) => {
      if (message === 'serving') resolve();
      else report.error(message.details, message.text);
    });
    await promise;
    worker.off('error', reject);
    worker.on('error', (error) => {
      // A worker fails only by a defect of ours: the gateway stops rather than run with fewer threads.
      throw error;
    });
    return new HttpWorker(worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('stop' satisfies ToHttpWorker);
    await ended;
  }
}
