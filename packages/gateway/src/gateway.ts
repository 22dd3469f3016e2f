/**
 * The composition root: opens the store, the doors and the threads that serve them.
 *
 * Owns the order of startup and shutdown. Upholds that the gateway listens once its log is open, or
 * after two seconds, that nothing is served before the log is open, that requests in progress are
 * finished before the log is closed, and that a failed start leaves nothing open.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import type { State } from '@open-presence/protocol';
import type { Logger } from 'pino';

import { createAppContext } from './app-context.ts';
import { ControlServer } from './control/control-server.ts';
import {
  ADDRESS_PATH,
  controlOperations,
  NAMES_PATH,
  namesOperation,
  RELOAD_PATH,
  reloadOperation,
} from './control/operations.ts';
import { type HiddenNames, readHiddenNames, writeHiddenNames } from './presence/hidden-names.ts';
import type { DoorContext } from './doors/context.ts';
import { isLoopbackUrl } from './http/foreign-page.ts';
import { HttpListener } from './http/http-listener.ts';
import { createGrammar } from './intake/grammar.ts';
import { shareClusterPresence } from './cluster.ts';
import { connectionLimit } from './connection-limit.ts';
import type { FromHttpWorker, HttpWorkerStart, ToHttpWorker } from './http-worker.ts';
import {
  freeAddress,
  freePort,
  isShareable,
  type ListenAddress,
} from './http/connection/listen-address.ts';
import { MALFORMED, NO_ROUTE } from './http/request-observer.ts';
import type { ListenOptions } from './http/connection/server.ts';
import { copyOf, type ContinuedLog } from './log-copy.ts';
import { Mirror } from './operations/copy/mirror.ts';
import { Notices } from './operations/notices.ts';
import { Presence } from './presence/presence.ts';
import { ThreadHub } from './presence/thread-hub.ts';
import { createRouter } from './routes.ts';
import { collectGarbageWhenIdle } from './idle-memory.ts';
import { HttpObservation, type ObservationOptions, type RequestLogOptions } from './request-log.ts';
import {
  loadLanguage,
  type LoadedWords,
  readOwnTexts,
  type ReloadedSettings,
} from './load-language.ts';
import { type MetricsAddress, startMetrics } from './metrics-endpoint.ts';
import { reloader } from './reloader.ts';
import { type LogConfig, openLog } from './open-log.ts';
import { dataPathsIn } from './store/data-paths.ts';
import { LOG_FORMAT } from './store/log/log-database.ts';
import type { OpeningProgress, OwnedLog } from './store/store.ts';
import { threadModule } from './thread-module.ts';

export interface GatewayConfig extends LogConfig, ReloadedSettings {
  /** Port 0 for any that is free. */
  readonly listen: ListenAddress;
  /** Threads that serve visitors, including this one. One where `isShareable` is false. */
  readonly threads: number;
  /** Where Prometheus asks for metrics. Without it, nothing is counted. */
  readonly metrics?: MetricsAddress | undefined;
  /** What the metrics say of it. */
  readonly nodeVersion?: string | undefined;
  /** Where a line is written for each request. */
  readonly requestLog?: RequestLogOptions | undefined;
  /** Why nothing is stored from the start on. Without it, the data folder says whether anything is. */
  readonly readOnly?: string | undefined;
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
  /** Why nothing is stored, where its owner wants that. */
  readOnly(): string | undefined;
  /** Whether it has a public address, and tells nobody how to reach whoever runs it. */
  readonly lacksContact: boolean;
  /**
   * Reads the language file and the texts for visitors again, and answers later requests with them. Requests in
   * progress go on with the old ones. If it rejects, as a start would, the old ones stay. Calls take effect in
   * order.
   */
  reload(): Promise<void>;
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

/** Resolves when it serves. Rejects with all faults of a language file, or with the system's error. */
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
    return lifecycle.log.writable() ? 'breathing' : 'holding';
  };
  const readOnly = (): string | undefined => lifecycle.log?.readOnly();
  const startup = { language: loaded.language, report, publicUrl, state, readOnly };
  // Disposed of in reverse order: the log is closed last.
  await using opened = new AsyncDisposableStack();
  let early: HttpListener<DoorContext> | undefined;
  const hub = opened.use(new ThreadHub());
  const isShared = listen.shared || config.log !== undefined;
  const presence = opened.use(new Presence(isShared ? hub.connect() : undefined));
  const notices = new Notices(config.data);
  const metrics =
    config.metrics &&
    opened.use(
      await startMetrics(config.metrics, {
        folder: config.data,
        format: LOG_FORMAT,
        nodeVersion: config.nodeVersion,
        state,
        log: () => lifecycle.log,
        notices: () => notices.measure(),
        visitors: () =>
          presence
            .countByRoom()
            .values()
            .reduce((sum, count) => sum + count, 0),
      }),
    );
  const metricsOf = metrics && ((thread: string) => metrics.counted.addStoreThread(thread));
  const opening = openLog({ ...config, metricsOf }, (progress) => {
    if (early !== undefined) config.onWaking?.({ address: early.address, ...progress });
  });
  opened.defer(async () => (await opening.catch(() => undefined))?.[Symbol.asyncDispose]());
  opened.use(collectGarbageWhenIdle());
  const router = createRouter(loaded.language);
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
  if (config.readOnly !== undefined) await log.setReadOnly(config.readOnly);
  if (config.log !== undefined) opened.use(await shareClusterPresence(config.log, hub.connect()));
  const listener = early ?? (await startListening());
  const keep = (hidden: HiddenNames): void => writeHiddenNames(config.data, hidden);
  presence.onHidden = keep;
  const stored = readHiddenNames(config.data);
  if (stored.at > presence.hidden.at) presence.hide(stored);
  const { large: temporaryFolder } = dataPathsIn(config.data);
  const mirror = config.mirror && new Mirror(config.mirror.origin);
  await notices.recover();
  const parts = { startup, log, presence, temporaryFolder, notices, mirror };
  const words = { ...loaded, publicUrl, ownTexts: await readOwnTexts(config.data) };
  let grammar = createGrammar(loaded.language);
  const open = (read: LoadedWords): void => {
    grammar = createGrammar(read.language);
    listener.open((services) => createAppContext({ ...parts, loaded: read }, services));
  };
  open(words);
  lifecycle.serving = true;
  const workers = opened.use(new AsyncDisposableStack());
  const threads: HttpWorker[] = [];
  for (let count = 1; count < config.threads; count += 1) {
    const shared = mirror && { origin: mirror.origin, memory: mirror.memory };
    const own = {
      presencePort: hub.connect(),
      temporaryFolder,
      data: config.data,
      mirror: shared,
    };
    const observed = observationOf(`http-${count + 1}`);
    const start = { listen, loaded: words, log: log.connect(), observation: observed, ...own };
    threads.push(workers.use(await HttpWorker.start(start, { report, logLines })));
  }
  const copying = mirror && {
    status: mirror,
    copy: copyOf(opened.use(log.copier()), log.id, loaded.language),
  };
  const turn = async (): Promise<void> =>
    void (await Promise.all(threads.map((thread) => thread.turn())));
  const reload = reloader(config, async (settings) => {
    const language = await loadLanguage(settings.language);
    const ownTexts = await readOwnTexts(config.data);
    const again = { ...language, publicUrl: settings.publicUrl, ownTexts };
    open(again);
    for (const thread of threads) thread.reload(again);
    await turn();
  });
  const control = await ControlServer.open(
    config.data,
    {
      ...controlOperations({
        log,
        get grammar() {
          return grammar;
        },
        mirror,
        notices,
      }),
      [RELOAD_PATH]: reloadOperation(reload),
      [NAMES_PATH]: namesOperation(
        () => presence.hidden,
        (hidden) => {
          keep(hidden);
          presence.hide(hidden);
        },
      ),
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
    readOnly,
    lacksContact:
      publicUrl !== undefined && !isLoopbackUrl(publicUrl) && loaded.language.contact === undefined,
    reload,
    turn,
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
      transferList: [start.log.writer, start.log.index, start.presencePort],
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

  reload(loaded: LoadedWords): void {
    this.#worker.postMessage(loaded satisfies ToHttpWorker);
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
