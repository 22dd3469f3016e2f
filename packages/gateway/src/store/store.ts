/**
 * The embedded store: SQLite in one folder. It upholds the contract of `log/log.ts`, for every thread
 * that has joined it. An entry passes the files of the folder in this order:
 *
 * 1. `large/` has the body of an entry that is too large for a row, flushed before the entry is committed (`large/`).
 * 2. `log.sqlite` has the entry, with its link, its idempotency key and its facets. The writer's thread commits many at
 *    once, and acknowledges them once they are flushed (`writer/`, `log/`).
 * 3. `last-commit` has seq and link of the newest entry. A start that finds it ahead of the log refuses.
 * 4. `index.sqlite` has words, facets and counts, and joined texts of older entries. The thread of the index follows
 *    the log by a quarter of a second (`index/`). It can be made again from 1 and 2.
 *
 * Readers find entries by 4, and the newest by 2, and read them in their own thread from 2 and 1 (`reader.ts`). Where an
 * entry is withheld, a case in 2 hides it from every reader, and its text then leaves 1, 2 and 4 (`withholding/`).
 * `reserve` is room on the disk for that. `lock.sqlite` keeps other processes out, `read-only` says that nothing is
 * stored, and `last-backup` when the newest backup began (`backup/`).
 *
 * Imports between them go one way: index → log → the files beside this one that import neither.
 *
 * Invariant: Threads that have joined the log append, read and watch as the first one does.
 * Test: `packages/gateway/src/store/store.test.ts` “reads, appends and hears of what others
 *   append”
 */
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

import type { LogCopier } from '../log/log-copier.ts';
import type { Seq } from '../log/log.ts';
import { threadModule } from '../thread-module.ts';
import {
  type BackupDescription,
  beginLog,
  readUsable,
  refuseUnrestored,
} from './backup/description.ts';
import { type DataPaths, dataPathsIn } from './data-paths.ts';
import { lossIn, refuseLoss } from './writer/last-commit.ts';
import { acceptClock, clockFault } from './writer/log-clock.ts';
import { CopyClient } from './replica/copy-client.ts';
import { adoptName, giveNewName, openLogIfExists, rollBackJournal } from './log/log-database.ts';
import { readStreamPosition } from './replica/stream-progress.ts';
import { isLocked, lockFile } from './lock-file.ts';
import { prepareFolder } from './prepare-folder.ts';
import { ReadOnlySwitch } from './read-only.ts';
import { SharedState } from './shared-state.ts';
import { type SqliteConnection, SqliteLog } from './sqlite-log.ts';
import type {
  FromThread,
  StoreChange,
  StoreMetricsMemory,
  ThreadStart,
  ToThread,
} from './store-thread.ts';

export interface OpeningProgress {
  readonly indexed: Seq;
  /** The newest entry; 0 until it is known. */
  readonly head: Seq;
  /** Messages that a copy still lacks of its cluster's stream; 0 until that is known. */
  readonly behind: number;
}

export interface SqliteOptions {
  readonly folder: string;
  /** Threads in libuv's pool (`UV_THREADPOOL_SIZE`): uploads take half of them at most. */
  readonly fileThreads?: number | undefined;
  /** Called once a second until the log is open. */
  readonly onProgress?: (progress: OpeningProgress) => void;
  /** Called once for each change, also while the log is being opened. */
  readonly onChange?: (change: StoreChange) => void;
  /** The name for a log without entries. Opening throws if the log has entries and another name. */
  readonly name?: string | undefined;
  /** Called where the folder was a backup: its log goes on under this name. */
  readonly onBegunBackup?: (backup: BackupDescription, name: string) => void;
  /** Whether the clock is right although it is far ahead of the newest entry. */
  readonly acceptClock?: boolean;
  /** A thread that takes appends and withholdings, and has the writer store them in its order. */
  readonly appending?: AppendingThread | undefined;
  /** Seqs of a part of the index, for tests: few entries fill several. */
  readonly partSize?: number;
  /** Where a thread of the store records metrics. */
  readonly metricsOf?: ((thread: string) => StoreMetricsMemory) | undefined;
}

interface AppendingThread {
  readonly module: URL;
  /** What the thread starts with. `writer`: its port, which is transferred. */
  readonly startOf: (writer: MessagePort) => object;
}

interface CopyLag {
  /** Since the copy last had all that the stream had. */
  readonly seconds: number;
  /** Whether the stream takes what is said here. */
  readonly takesMessages: boolean;
  /** Servers that are to have the stream and do not have all of it. */
  readonly missingServers: number;
}

/** Only the log of a folder, for copying another gateway's entries into it. */
export interface OpenedCopy extends AsyncDisposable {
  readonly copier: LogCopier;
}

/** Size of the threads' young generations, in MB: garbage is collected while it is in the processor's cache. */
const YOUNG_GENERATION_MB = 8;
const YOUNG_GENERATION_OF_INDEX_MB = 4;

/** libuv's own number. */
const DEFAULT_FILE_THREADS = 4;

const PROGRESS_INTERVAL_MS = 1000;

/**
 * Opens the log in a folder, which is created if it does not exist. Resolves once all entries but the
 * newest, fewer than a part of the index has, can be searched. Throws when another process has the folder, when it has something else than a log, and
 * when the log has lost entries or the clock is far ahead, unless that is accepted.
 */
export async function openSqliteLog(options: SqliteOptions): Promise<OwnedLog> {
  await using opened = new AsyncDisposableStack();
  const { paths, shared, start } = openFolder(options, opened);
  const { onProgress } = options;
  const report = (): void => {
    const { indexed, head, messagesBehind: behind } = shared;
    onProgress?.({ indexed, head, behind });
  };
  using _progress = setInterval(report, PROGRESS_INTERVAL_MS);
  shared.hasIndexes = true;
  const writer = await start('./writer/writer-thread', YOUNG_GENERATION_MB);
  const index = await start('./index/index-thread', YOUNG_GENERATION_OF_INDEX_MB);
  const appending = options.appending && (await startAppending(options.appending, writer, start));
  const appendThread = appending ?? writer;
  const connect = (): SqliteConnection => {
    const ports = { writer: portTo(appendThread), index: portTo(index) };
    return { paths, shared: shared.memory, isShared: appending !== undefined, ...ports };
  };
  const copier = (): CopyClient => new CopyClient(paths, shared, portTo(writer));
  const stopping = (): void => appendThread.postMessage('stopping' satisfies ToThread);
  return new OwnedLog({ connect, copier, stopping }, opened);
}

async function startAppending(
  { module, startOf }: AppendingThread,
  writer: Worker,
  start: OpenedFolder['start'],
): Promise<Worker> {
  const port = portTo(writer);
  return await start(module, YOUNG_GENERATION_MB, { extra: startOf(port), transfer: [port] });
}

/** The same without readers and indexes. Throws if the folder has entries of a log with another name. */
export async function openLogCopy(
  options: Pick<SqliteOptions, 'folder' | 'fileThreads' | 'onChange'> & { readonly name: string },
): Promise<OpenedCopy> {
  await using opened = new AsyncDisposableStack();
  const { paths, shared, start } = openFolder({ ...options, acceptClock: true }, opened);
  const writer = await start('./writer/writer-thread', YOUNG_GENERATION_MB);
  const copier = opened.use(new CopyClient(paths, shared, portTo(writer)));
  const rest = opened.move();
  return { copier, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

interface OpenedFolder {
  readonly paths: DataPaths;
  readonly shared: SharedState;
  /** Starts a thread of the store, which `opened` ends. */
  readonly start: (
    file: string | URL,
    youngGenerationMb: number,
    given?: { readonly extra: object; readonly transfer: MessagePort[] },
  ) => Promise<Worker>;
}

function openFolder(options: SqliteOptions, opened: AsyncDisposableStack): OpenedFolder {
  const paths = dataPathsIn(resolve(options.folder));
  prepareFolder(paths);
  opened.use(lockFolder(paths));
  rollBackJournal(paths);
  const isCopy = options.appending !== undefined;
  const backup = refuseLog(paths, { isCopy, acceptClock: options.acceptClock });
  refuseLoss(paths);
  if (options.name !== undefined) adoptName(paths, options.name);
  if (clockFault(paths) !== undefined) acceptClock(paths);
  if (backup !== undefined) {
    const name = beginLog(paths, { keepName: options.name !== undefined, isCopy });
    options.onBegunBackup?.(backup, name);
  }
  mkdirSync(paths.large, { recursive: true });
  const shared = new SharedState();
  if (options.partSize !== undefined) shared.partSize = options.partSize;
  const { fileThreads = DEFAULT_FILE_THREADS } = options;
  ReadOnlySwitch.restore(paths, shared);
  shared.uploadThreads = Math.max(1, Math.floor(fileThreads / 2));
  const start: OpenedFolder['start'] = async (path, youngGenerationMb, given) => {
    const resourceLimits = { maxYoungGenerationSizeMb: youngGenerationMb };
    const module = path instanceof URL ? path : threadModule(path, import.meta.url);
    const name = basename(module.pathname, extname(module.pathname));
    const metrics = options.metricsOf?.(name.replace('-thread', ''));
    const workerData: ThreadStart = { paths, shared: shared.memory, metrics, extra: given?.extra };
    const transferList = given?.transfer ?? [];
    const worker = new Worker(module, { name, workerData, resourceLimits, transferList });
    await threadStarted(worker, options);
    return opened.adopt(worker, closeThread);
  };
  return { paths, shared, start };
}

interface LogUse {
  /** Whether the log is used as the copy of a cluster's. */
  readonly isCopy: boolean;
  readonly acceptClock?: boolean | undefined;
}

/** Returns the description of a backup, which begins a log of its own. */
function refuseLog(
  paths: DataPaths,
  { isCopy, acceptClock }: LogUse,
): BackupDescription | undefined {
  const backup = readUsable(paths, isCopy);
  refuseUnrestored(paths);
  if (!isCopy && backup === undefined) refuseCopyOfCluster(paths);
  const fault = isCopy || acceptClock === true ? undefined : clockFault(paths);
  if (fault !== undefined) throw new Error(fault);
  return backup;
}

/** Throws what `openSqliteLog` would throw, and changes nothing. No gateway may be running there. */
export function checkLog(folder: string, use: LogUse): void {
  const paths = dataPathsIn(resolve(folder));
  if (isLocked(paths.lock)) throw new Error(`Another process is using "${paths.folder}".`);
  openLogIfExists(paths)?.close();
  refuseLog(paths, use);
  refuseLoss(paths);
}

/** What a start asks the operator about. */
export type LogDoubt = 'loss' | 'clock';

/**
 * Has later starts go on with the log as it is. Says what was accepted; undefined if starts do not ask. No gateway
 * may be running there.
 */
export function acceptLog(folder: string, what: LogDoubt): string | undefined {
  const paths = dataPathsIn(resolve(folder));
  using _lock = lockFolder(paths);
  rollBackJournal(paths);
  if (what === 'loss') {
    const loss = lossIn(paths);
    if (loss === undefined) return undefined;
    giveNewName(paths);
    rmSync(paths.lastCommit);
    return `The log ${loss}. It goes on with what is there, under a new name.`;
  }
  if (clockFault(paths) === undefined) return undefined;
  acceptClock(paths);
  return 'The clock counts as right.';
}

/** Whatever is stored in a copy by itself, the other copies would not have. */
function refuseCopyOfCluster(paths: DataPaths): void {
  using db = openLogIfExists(paths);
  if (db !== undefined && readStreamPosition(db) !== undefined)
    throw new Error(
      `"${paths.folder}" is a copy of the log of a cluster. Start it with --log, as a gateway of that, or make it a log of its own: presence cluster leave.`,
    );
}

/** Throws at once when another process has the folder. */
function lockFolder({ folder, lock }: DataPaths): DatabaseSync {
  return lockFile(
    lock,
    `Another gateway is using the data folder "${folder}". Stop it first, or start this one with a folder of its own (--data).`,
  );
}

async function threadStarted(worker: Worker, options: SqliteOptions): Promise<void> {
  const { onChange } = options;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.once('error', reject);
  worker.on('message', (message: FromThread) => {
    if (message === 'ready') resolve();
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

type Opened = Pick<OwnedLog, 'connect' | 'copier' | 'stopping'>;

/** The log in the thread that opened it. */
export class OwnedLog extends SqliteLog {
  /** For one more thread, which makes its own `SqliteLog` and disposes of it before this one. */
  readonly connect: () => SqliteConnection;
  /** To be disposed of before the log. */
  readonly copier: () => LogCopier & AsyncDisposable;
  /** To be called when the gateway begins to stop: what waits for a majority is answered. */
  readonly stopping: () => void;
  readonly #resources: AsyncDisposableStack;
  #ending: Promise<void> | undefined;

  constructor({ connect, copier, stopping }: Opened, opened: AsyncDisposableStack) {
    super(connect());
    this.connect = connect;
    this.copier = copier;
    this.stopping = stopping;
    this.#resources = opened.move();
  }

  indexWatermark(): Seq {
    return this.shared.indexed;
  }

  /** How far this copy of a cluster's log is behind; undefined for a log of its own. */
  copyLag(): CopyLag | undefined {
    if (!this.isShared) return undefined;
    const { completeAt, streamHolding, missingServers } = this.shared;
    const seconds = Math.max(0, Date.now() - completeAt) / 1000;
    return { seconds, takesMessages: !streamHolding, missingServers };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.#ending ??= this.#resources.disposeAsync();
    await this.#ending;
  }
}
