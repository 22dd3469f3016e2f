/**
 * The embedded store: SQLite in one folder. It upholds the contract of `log/log.ts`, for every thread
 * that has joined it. `log/` writes and reads the entries, `index/` finds them by facets, `words/`
 * finds them by words. Each has a thread of its own; reading happens in the caller's thread.
 *
 * Imports between them go one way: words → index → log → the files beside this one that import
 * none of the three.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

import type { Log, Seq } from '../../log/log.ts';
import { type DataPaths, dataPathsIn } from './data-paths.ts';
import { type AcceptedLoss, checkHistory } from './log/accept-loss.ts';
import { checkClock } from './log/check-clock.ts';
import { rollBackJournal } from './log/log-database.ts';
import { prepareFolder } from './prepare-folder.ts';
import { SharedState } from './shared-state.ts';
import { type SqliteConnection, SqliteLog } from './sqlite-log.ts';
import type {
  ClockReport,
  FromThread,
  StoreChange,
  ThreadStart,
  ToThread,
} from './store-thread.ts';

export interface SqliteOptions {
  readonly folder: string;
  /** Threads in libuv's pool (`UV_THREADPOOL_SIZE`): uploads take half of them at most. */
  readonly fileThreads?: number | undefined;
  /** Called once a second until the log is open. Both are 0 until its head is known. */
  readonly onProgress?: (indexed: number, head: number) => void;
  /** Called once for each change, also while the log is being opened. */
  readonly onChange?: (change: StoreChange) => void;
  /** Whether to go on with what is there if the log has lost entries. */
  readonly acceptLoss?: boolean;
  readonly onAcceptedLoss?: (loss: AcceptedLoss) => void;
  /** Whether the clock is right although it is far ahead of the newest entry. */
  readonly acceptClock?: boolean;
  /** Called when the clock jumps, and at the start if it is behind the newest entry. */
  readonly onClock?: (report: ClockReport) => void;
  /** Called when all entries up to this one were verified in the background, at most once an hour. */
  readonly onVerified?: (seq: Seq) => void;
}

/** The log in the thread that opened it. */
export interface OwnedLog extends Log {
  /** For one more thread, which makes its own `SqliteLog` and disposes of it before this one. */
  connect(): SqliteConnection;
}

/**
 * Maximum size of the young generation of the threads' heaps: garbage is collected while it is in
 * the processor's cache. The words of entries are many and short-lived.
 */
const YOUNG_GENERATION_MB = 8;
const YOUNG_GENERATION_OF_WORDS_MB = 1;

/** libuv's own number. */
const DEFAULT_FILE_THREADS = 4;

const PROGRESS_INTERVAL_MS = 1000;

/**
 * Opens the log in a folder, which is created if it does not exist. Resolves once the index has
 * caught up. Throws when another process has the folder, when it has something else than a log, and
 * when the log has lost entries or the clock is far ahead, unless that is accepted.
 */
export async function openSqliteLog(options: SqliteOptions): Promise<OwnedLog> {
  const paths = dataPathsIn(resolve(options.folder));
  prepareFolder(paths);
  await using opened = new AsyncDisposableStack();
  opened.use(lockFolder(paths));
  rollBackJournal(paths);
  if (options.acceptClock !== true) checkClock(paths);
  const loss = checkHistory(paths, options.acceptLoss ?? false);
  if (loss !== undefined) options.onAcceptedLoss?.(loss);
  mkdirSync(paths.incoming, { recursive: true });
  const shared = new SharedState();
  const { fileThreads = DEFAULT_FILE_THREADS } = options;
  shared.uploadThreads = Math.max(1, Math.floor(fileThreads / 2));
  const { onProgress } = options;
  const timer = setInterval(() => onProgress?.(shared.indexed, shared.head), PROGRESS_INTERVAL_MS);
  using _progress = { [Symbol.dispose]: () => clearInterval(timer) };
  const start = async (file: string, youngGenerationMb: number): Promise<Worker> => {
    const resourceLimits = { maxYoungGenerationSizeMb: youngGenerationMb };
    const workerData: ThreadStart = { paths, shared: shared.memory };
    const worker = new Worker(new URL(file, import.meta.url), { workerData, resourceLimits });
    await threadStarted(worker, options);
    return opened.adopt(worker, closeThread);
  };
  const writer = await start('./log/writer-thread.ts', YOUNG_GENERATION_MB);
  const index = await start('./index/index-thread.ts', YOUNG_GENERATION_MB);
  // The full-text index need not have caught up: `searchWatermark` says how far it is.
  const words = await start('./words/words-thread.ts', YOUNG_GENERATION_OF_WORDS_MB);
  const connect = (): SqliteConnection => {
    const ports = { writer: portTo(writer), words: portTo(words), index: portTo(index) };
    return { paths, shared: shared.memory, ...ports };
  };
  return new OwnedSqliteLog(connect, opened);
}

/**
 * Locks the data folder for one gateway until the database is closed. The operating system releases
 * the lock when the process ends, however it ends. Throws at once when another process has it.
 */
function lockFolder(paths: DataPaths): DatabaseSync {
  const db = new DatabaseSync(paths.lock, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new Error(
        `Another gateway is using the data folder "${paths.folder}". Stop it first, or start this one with a folder of its own (--data).`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** Resolves when the thread is ready. */
async function threadStarted(worker: Worker, options: SqliteOptions): Promise<void> {
  const { onChange, onClock, onVerified } = options;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.once('error', reject);
  worker.on('message', (message: FromThread) => {
    if (message === 'ready') resolve();
    else if ('clock' in message) onClock?.(message.clock);
    else if ('verified' in message) onVerified?.(message.verified);
    else onChange?.(message);
  });
  await promise;
  worker.off('error', reject);
  worker.on('error', (error) => {
    // Only a bug ends a thread: crash rather than serve with a broken store.
    throw error;
  });
}

/** Resolves when the thread has done what it was sent before, and ended. */
async function closeThread(worker: Worker): Promise<void> {
  const hasEnded = worker.threadId === -1;
  if (hasEnded) return;
  const exit = once(worker, 'exit');
  worker.postMessage('close' satisfies ToThread);
  await exit;
}

/** Makes the holder of the port a client of the thread. */
function portTo(worker: Worker): MessagePort {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port1 satisfies ToThread, [port1]);
  return port2;
}

class OwnedSqliteLog extends SqliteLog implements OwnedLog {
  readonly connect: () => SqliteConnection;
  readonly #resources: AsyncDisposableStack;
  #ending: Promise<void> | undefined;

  /** Takes over what was opened. */
  constructor(connect: () => SqliteConnection, opened: AsyncDisposableStack) {
    super(connect());
    this.connect = connect;
    this.#resources = opened.move();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.#ending ??= this.#resources.disposeAsync();
    await this.#ending;
  }
}
