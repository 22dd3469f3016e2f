/**
 * The composition root: opens the store, the doors and the threads that serve them.
 *
 * Owns the order of startup and shutdown. Upholds that the gateway listens once its log is open, or
 * after two seconds, that nothing is served before the log is open, that requests in progress are
 * finished before the log is closed, and that a failed start leaves nothing open.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import type { State } from '@open-presence/protocol';
import type { Logger } from 'pino';

import { createAppContext } from './app-context.ts';
import { ControlServer } from './control/control-server.ts';
import { ADDRESS_PATH, controlOperations } from './control/operations.ts';
import type { DoorContext } from './doors/context.ts';
import { HttpListener } from './http/http-listener.ts';
import { createGrammar } from './intake/grammar.ts';
import { openClusterLog, shareClusterPresence } from './cluster.ts';
import { connectionLimit } from './connection-limit.ts';
import type { FromHttpWorker, HttpWorkerStart, ToHttpWorker } from './http-worker.ts';
import { isShareable, removeStaleSocket, type ListenAddress } from './http/listen-address.ts';
import { MALFORMED, NO_ROUTE } from './http/request-observer.ts';
import type { ListenOptions } from './http/server.ts';
import { copyOf, type ContinuedLog } from './log-copy.ts';
import { logState } from './log-state.ts';
import { Mirror } from './operations/mirror.ts';
import { Presence } from './presence/presence.ts';
import { ThreadHub } from './presence/thread-hub.ts';
import { createRouter } from './routes.ts';
import { collectGarbageWhenIdle } from './idle-memory.ts';
import { HttpObservation, type ObservationOptions } from './http-observation.ts';
import { loadLanguage } from './load-language.ts';
import { type MetricsAddress, startMetrics } from './metrics-endpoint.ts';
import type { RequestLogOptions } from './request-log.ts';
import { dataPathsIn } from './stores/sqlite/data-paths.ts';
import type { ClockReport, StoreChange } from './stores/sqlite/store-thread.ts';
import {
  type OpeningProgress,
  openSqliteLog,
  type OwnedLog,
  type SqliteOptions,
} from './stores/sqlite/store.ts';
import type { BackupDescription } from './stores/sqlite/backup/description.ts';
import type { AcceptedLoss } from './stores/sqlite/writer/accept-loss.ts';
import type { Seq } from './log/log.ts';
import { threadModule } from './thread-module.ts';

export { isShareable, type ListenAddress } from './http/listen-address.ts';
export type { LogFault } from './stores/sqlite/log/chain-verifier.ts';
export { type FolderLog, openFolderLog } from './stores/sqlite/folder-log.ts';
export { verifyLog, type VerifyEvent, type VerifyResult } from './stores/sqlite/repair/verify.ts';
export type { DerivedFault } from './stores/sqlite/segments/verify-segments.ts';
export { scrubProgress, type ScrubProgress } from './stores/sqlite/damage/scrub-progress.ts';
export { verifyDerived } from './stores/sqlite/segments/verify-segments.ts';
export {
  backUpLog,
  type BackupOptions,
  type BackupReport,
} from './stores/sqlite/backup/back-up.ts';
export { parseStreamAddress } from './log/stream-address.ts';
export {
  restoreLog,
  RestoreRefusal,
  type RestoreOptions,
  type RestoreReport,
} from './stores/sqlite/backup/restore-log.ts';

export interface GatewayConfig {
  /** Port 0 for any that is free. */
  readonly listen: ListenAddress;
  /** Folder of the log; created if missing. */
  readonly data: string;
  /** Path of a language file; without one, the language that comes with the gateway. */
  readonly language?: string | undefined;
  /** Public address for absolute links; without it, the caller's `Host`. */
  readonly publicUrl?: string | undefined;
  /** Threads that serve visitors, including this one. One where `isShareable` is false. */
  readonly threads: number;
  /** Threads in libuv's pool (`UV_THREADPOOL_SIZE`): uploads take half of them at most. */
  readonly fileThreads?: number | undefined;
  readonly logger: Logger;
  /** Where Prometheus asks for metrics. Without it, nothing is counted. */
  readonly metrics?: MetricsAddress | undefined;
  /** Where a line is written for each request. */
  readonly requestLog?: RequestLogOptions | undefined;
  /** Whether to serve what is there if the log has lost entries. Without it, the start fails. */
  readonly acceptLoss?: boolean;
  /** Whether the clock is right although it is far ahead. Without it, the start fails. */
  readonly acceptClock?: boolean;
  /**
   * Set for a mirror: nothing is stored but what is copied. `name`: of the log, for a folder without
   * one.
   */
  readonly mirror?: { readonly origin: string; readonly name: string | undefined } | undefined;
  /**
   * The stream of a cluster: `nats://a:4222,b:4222,c:4222/NAME`. Without it, the log is in the folder
   * alone.
   */
  readonly log?: string | undefined;
  /** Called about once a second while the gateway listens, but is still reading its log. */
  readonly onWaking?: (progress: WakingProgress) => void;
}

export interface WakingProgress extends OpeningProgress {
  readonly address: string;
}

/** A running gateway. Disposing of it stops it: resolves when all requests are finished. */
export interface Gateway extends AsyncDisposable {
  /** `http://127.0.0.1:7410`, or `unix:PATH` or `fd:0` for a UNIX socket. */
  readonly address: string;
  /** `http://127.0.0.1:7411/metrics`, if there are metrics. */
  readonly metricsUrl: string | undefined;
  state(): State;
  /** Resolves when each thread that serves visitors has had a turn, or has ended. */
  turn(): Promise<void>;
  /** Set for a mirror: how its log is continued. To be used no more once the gateway is disposed of. */
  readonly mirroring: Mirroring | undefined;
}

export interface Mirroring {
  readonly copy: ContinuedLog;
  readonly status: Pick<Mirror, 'state' | 'originHead'>;
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
    failing: 'index: what is said now cannot be searched yet; trying again',
    working: 'index: entries are indexed again',
  },
  derived: {
    failing: 'index: what is spoiled is made again from the log; reading goes on',
    working: 'index: what was spoiled has been made again',
  },
  keys: {
    failing:
      'log: keys.sqlite is made again from the log; until then, only requests without an idempotency key are stored',
    working: 'log: idempotency keys are known again',
  },
  erasing: {
    failing: 'log: what was withheld is not shown any more, but cannot be erased yet; trying again',
    working: 'log: what was withheld is being erased again',
  },
  stream: {
    failing: 'holding: the NATS servers do not acknowledge entries; reading goes on',
    working: 'breathing: the NATS servers acknowledge entries again',
  },
  servers: {
    failing: 'holding: a NATS server could lose what it acknowledges; reading goes on',
    working: 'cluster: the NATS servers keep what they acknowledge',
  },
  copies: {
    failing:
      'cluster: the copies of the log differ; find out by "presence verify" which of them has changed',
    working: 'cluster: the copies of the log are equal again',
  },
  entry: {
    failing: 'log: an entry cannot be read; "presence repair" can put back a large one',
    working: 'log: an entry can be read again',
  },
};

const LOSS_ACCEPTED =
  'entries are lost, as accepted: the log goes on under a new name, and what is known of them was moved aside';

const BACKUP_BEGUN =
  'this folder was a backup, and is the data folder of a log now; with another name, readers begin anew';

const UNCHECKED_SERVERS =
  'cluster: these NATS servers are down, or have JetStream off, as after a full disk; their settings are checked when they store again';

/**
 * Resolves when the gateway serves. Rejects with all that is wrong with a language file
 * that cannot be used, and with the error of the system for an address or folder that cannot.
 */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const { publicUrl, logger: report } = config;
  const [loaded, listen] = await Promise.all([
    loadLanguage(config.language),
    listenOptions(config),
  ]);
  const lifecycle: Lifecycle = { serving: false, stopping: false };
  const state = (): State => {
    if (lifecycle.stopping) return 'resting';
    if (!lifecycle.serving || lifecycle.log === undefined) return 'waking';
    return logState(lifecycle.log.writable());
  };
  const unreadable = (): number => lifecycle.log?.damage().unreadable ?? 0;
  const startup = { language: loaded.language, report, publicUrl, state, unreadable };
  // Disposed of in reverse order: the log is closed last.
  await using opened = new AsyncDisposableStack();
  let early: HttpListener<DoorContext> | undefined;
  const hub = opened.use(new ThreadHub());
  const isShared = listen.shared || config.log !== undefined;
  const presence = opened.use(new Presence(isShared ? hub.connect() : undefined));
  const metrics =
    config.metrics &&
    opened.use(
      await startMetrics(config.metrics, {
        folder: config.data,
        state,
        log: () => lifecycle.log,
        visitors: () => presence.countByRoom(),
      }),
    );
  const metricsOf = metrics && ((thread: string) => metrics.counted.addStoreThread(thread));
  const opening = openLog({ ...config, metricsOf }, (progress) => {
    if (early !== undefined) config.onWaking?.({ address: early.address, ...progress });
  });
  opened.defer(async () => (await opening.catch(() => undefined))?.[Symbol.asyncDispose]());
  opened.use(collectGarbageWhenIdle());
  const router = createRouter();
  const paths = [NO_ROUTE, MALFORMED, ...router.routes].map(({ path }) => path);
  const observationOf = (thread: string): ObservationOptions => ({
    metrics: metrics?.counted.addHttpThread(thread, paths),
    requestLog: config.requestLog?.format,
  });
  const logLines = (lines: string): void => config.requestLog?.write(lines);
  const observation = opened.use(new HttpObservation(observationOf('http-1'), logLines));
  const startListening = async (): Promise<HttpListener<DoorContext>> => {
    if (listen.shared && 'port' in listen.address) await freePort(listen.address);
    const listening = await HttpListener.listen(listen, startup, router, observation.observe);
    observation.watch(listening);
    return opened.use(listening);
  };
  if (!(await settlesWithin(opening, LISTEN_EARLY_AFTER_MS))) early = await startListening();
  const log = await opening;
  lifecycle.log = log;
  if (config.log !== undefined) opened.use(await shareClusterPresence(config.log, hub.connect()));
  const listener = early ?? (await startListening());
  const { incoming: temporaryFolder } = dataPathsIn(config.data);
  const mirror = config.mirror && new Mirror(config.mirror.origin);
  const parts = { startup, loaded, log, presence, temporaryFolder, mirror };
  listener.open((services) => createAppContext(parts, services));
  lifecycle.serving = true;
  const workers = opened.use(new AsyncDisposableStack());
  const threads: HttpWorker[] = [];
  for (let count = 1; count < config.threads; count += 1) {
    const shared = mirror && { origin: mirror.origin, memory: mirror.memory };
    const own = { publicUrl, presencePort: hub.connect(), temporaryFolder, mirror: shared };
    const observed = observationOf(`http-${count + 1}`);
    const start = { listen, loaded, log: log.connect(), observation: observed, ...own };
    threads.push(workers.use(await HttpWorker.start(start, { report, logLines })));
  }
  const copying = mirror && {
    status: mirror,
    copy: copyOf(opened.use(log.copier()), log.id, loaded.language),
  };
  const grammar = createGrammar(loaded.language);
  const control = await ControlServer.open(
    config.data,
    {
      ...controlOperations({ log, grammar, mirror }),
      async *[ADDRESS_PATH]() {
        yield JSON.stringify({ address: listener.address });
      },
    },
    report,
  );
  if (control !== undefined) opened.use(control);
  const rest = opened.move();
  return {
    address: listener.address,
    metricsUrl: metrics?.url,
    state,
    turn: async () => void (await Promise.all(threads.map((thread) => thread.turn()))),
    mirroring: copying,
    async [Symbol.asyncDispose]() {
      lifecycle.stopping = true;
      log.stopping();
      // All listeners close at once, so that no new connection reaches one that stays open.
      await Promise.all([workers.disposeAsync(), listener[Symbol.asyncDispose]()]);
      await rest.disposeAsync();
    },
  };
}

interface Lifecycle {
  log?: OwnedLog;
  serving: boolean;
  stopping: boolean;
}

async function openLog(
  {
    data: folder,
    fileThreads,
    metricsOf,
    logger: report,
    acceptLoss = false,
    acceptClock = false,
    mirror,
    log: stream,
  }: GatewayConfig & Pick<SqliteOptions, 'metricsOf'>,
  onProgress: (progress: OpeningProgress) => void,
): Promise<OwnedLog> {
  const options = {
    folder,
    fileThreads,
    metricsOf,
    onProgress,
    onChange: ({ part, seq, cause }: StoreChange) => {
      const status =
        part === 'storing' || part === 'stream' ? { status: logState(cause === undefined) } : {};
      const { failing, working } = CHANGES[part];
      report.warn(
        { ...status, ...(seq === undefined ? {} : { seq }), ...cause },
        cause === undefined ? working : failing,
      );
    },
    acceptLoss,
    onAcceptedLoss: (loss: AcceptedLoss) => report.warn(loss, LOSS_ACCEPTED),
    onBegunBackup: ({ log: before, head }: BackupDescription, log: string) =>
      report.warn({ before, log, head }, BACKUP_BEGUN),
    onVerified: (entries: Seq) =>
      report.info({ entries }, 'log: all entries were verified in the background'),
    onClock: (clock: ClockReport) => report.warn(clock, describeClock(clock)),
  };
  if (stream === undefined)
    return await openSqliteLog({ ...options, name: mirror?.name, acceptClock });
  if (mirror !== undefined) throw new Error('A gateway of a cluster cannot be a mirror.');
  const onUnchecked = (servers: readonly string[]): void => {
    if (servers.length > 0) report.warn({ servers }, UNCHECKED_SERVERS);
  };
  return await openClusterLog({ ...options, stream, onUnchecked });
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

async function listenOptions({ listen, threads }: GatewayConfig): Promise<ListenOptions> {
  const shared = threads > 1;
  if (shared && !isShareable(listen)) throw new Error('Several threads cannot listen there.');
  return {
    // Before the log is opened, so that an address that is taken is reported at once.
    address: await freeAddress(listen, shared),
    shared,
    // Files opened later use the descriptors that are reserved for the store.
    maxConnections: Math.ceil((await connectionLimit()) / threads),
  };
}

async function freeAddress(address: ListenAddress, shared: boolean): Promise<ListenAddress> {
  if ('path' in address) await removeStaleSocket(address.path);
  if (!('port' in address) || (address.port === 0 && !shared)) return address;
  return { ...address, port: await freePort(address) };
}

/**
 * The port, or one that is free for 0. Throws where it is taken: among those who share a port, the
 * system would not say so, and deal out our visitors to another gateway.
 */
async function freePort({ host, port }: { host: string; port: number }): Promise<number> {
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

  static async start(
    start: HttpWorkerStart,
    { report, logLines }: { report: Logger; logLines: (lines: string) => void },
  ): Promise<HttpWorker> {
    const worker = new Worker(threadModule('./http-worker', import.meta.url), {
      workerData: start,
      transferList: [start.log.writer, start.log.segments, start.presencePort],
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    worker.once('error', reject);
    worker.on('message', (message: FromHttpWorker) => {
      if (message === 'serving') resolve();
      else if (message === 'turn') worker.emit('turn');
      else if ('lines' in message) logLines(message.lines);
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

  async turn(): Promise<void> {
    this.#worker.postMessage('turn' satisfies ToHttpWorker);
    await Promise.race([once(this.#worker, 'turn'), once(this.#worker, 'exit')]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('stop' satisfies ToHttpWorker);
    await ended;
  }
}
