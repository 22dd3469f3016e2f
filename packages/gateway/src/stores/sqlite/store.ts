/**
 * The embedded store: SQLite in one folder. It upholds the contract of `log/log.ts`, for every thread
 * that has joined it. `log/` writes and reads the entries, `index/` finds them by facets, `words/`
 * finds them by words. Each has a thread of its own; reading happens in the caller's thread.
 *
 * Imports between them go one way: words → index → log → the files beside this one that import
 * none of the three.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { MessageChannel, type Transferable, Worker } from 'node:worker_threads';

import type { Log } from '../../log/log.ts';
import { type DataPaths, dataPathsIn } from './data-paths.ts';
import type { IndexerStart, ToIndexer } from './index/messages.ts';
import { lockFolder } from './log/folder-lock.ts';
import { makeUploadFolder } from './log/large-files.ts';
import type { FromWriter, ToWriter, WriterStart } from './log/messages.ts';
import { SharedState } from './shared-state.ts';
import { type SqliteConnection, SqliteLog } from './sqlite-log.ts';
import type { FromWords, ToWords, WordsStart } from './words/messages.ts';

export interface SqliteOptions {
  readonly folder: string;
  /** Called with false when entries can no longer be stored, with true when they can again. */
  readonly onWritableChange?: (writable: boolean) => void;
  /** Called with the reason why search fails, and with undefined once it works again. */
  readonly onSearchFailure?: (reason: string | undefined) => void;
}

/** The log in the thread that opened it. */
export interface OwnedLog extends Log {
  /** For one more thread to join the log, with `joinSqliteLog`. */
  connect(): SqliteConnection;
}

/**
 * Maximum size of the young generation of the threads' heaps: garbage is collected while it is in
 * the processor's cache. The words of entries are many and short-lived.
 */
const YOUNG_GENERATION_MB = 8;
const YOUNG_GENERATION_OF_WORDS_MB = 1;

/**
 * Opens the log in a folder, which is created if it does not exist. Resolves once the index has
 * caught up. Throws when another process has the folder, or it has something else than a log.
 */
export async function openSqliteLog(options: SqliteOptions): Promise<OwnedLog> {
  const paths = dataPathsIn(resolve(options.folder));
  makeFolder(paths.folder);
  await using opened = new AsyncDisposableStack();
  const lock = opened.adopt(lockFolder(paths), (db) => db.close());
  makeUploadFolder(paths);
  const shared = new SharedState();
  const common = { paths, shared: shared.memory };
  const start = async (
    file: string,
    data: ThreadStart,
    transfer: Transferable[],
  ): Promise<Worker> =>
    opened.adopt(
      await startThread(file, data, transfer),
      async (worker) => void (await worker.terminate()),
    );
  const { port1, port2 } = new MessageChannel();
  const writer = await start('./log/writer-thread.ts', { ...common, indexer: port1 }, [port1]);
  const indexer = await start('./index/index-thread.ts', { ...common, writer: port2 }, [port2]);
  // The full-text index need not have caught up: `searchWatermark` says how far it is.
  const words = await start('./words/words-thread.ts', common, []);
  const log = new OwnedSqliteLog({ paths, shared, lock, writer, indexer, words }, options);
  // From here on the log closes them itself, in its own order.
  opened.move();
  return log;
}

/**
 * The log that another thread of this process has opened, for the thread that was given the
 * connection. Must be disposed of before that log is.
 */
export function joinSqliteLog(connection: SqliteConnection): Log {
  return new SqliteLog(connection);
}

/** Creates the parents as well. Node's `recursive` never returns where that fails, as in `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path);
}

interface StoreParts {
  readonly paths: DataPaths;
  readonly shared: SharedState;
  readonly lock: DatabaseSync;
  readonly writer: Worker;
  readonly indexer: Worker;
  readonly words: Worker;
}

class OwnedSqliteLog extends SqliteLog implements OwnedLog {
  readonly #parts: StoreParts;
  #ending: Promise<void> | undefined;

  constructor(parts: StoreParts, { onWritableChange, onSearchFailure }: SqliteOptions) {
    super(connectTo(parts));
    this.#parts = parts;
    if (!parts.shared.writable) onWritableChange?.(false);
    parts.writer.on('message', (message: FromWriter) => {
      if (message !== 'ready') onWritableChange?.(message.writable);
    });
    parts.words.on('message', (message: FromWords) => {
      if (message !== 'ready') onSearchFailure?.(message.failure);
    });
    for (const worker of [parts.writer, parts.indexer, parts.words]) {
      worker.on('error', (error) => {
        // Only a bug ends a thread: crash rather than serve with a broken store.
        throw error;
      });
    }
  }

  connect(): SqliteConnection {
    return connectTo(this.#parts);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#ending ??= this.#end();
    await this.#ending;
  }

  async #end(): Promise<void> {
    await super[Symbol.asyncDispose]();
    const { writer, indexer, words, lock } = this.#parts;
    const exits = [writer, indexer, words].map(
      (worker) => new Promise((resolve) => worker.once('exit', resolve)),
    );
    writer.postMessage('close' satisfies ToWriter);
    indexer.postMessage('close' satisfies ToIndexer);
    words.postMessage('close' satisfies ToWords);
    await Promise.all(exits);
    lock.close();
  }
}

/** Registers one more thread with the writer and the full-text index. */
function connectTo({ paths, shared, writer, words }: StoreParts): SqliteConnection {
  const appends = new MessageChannel();
  writer.postMessage(appends.port1 satisfies ToWriter, [appends.port1]);
  const queries = new MessageChannel();
  words.postMessage(queries.port1 satisfies ToWords, [queries.port1]);
  return { paths, shared: shared.memory, writer: appends.port2, words: queries.port2 };
}

type ThreadStart = WriterStart | IndexerStart | WordsStart;

/** Resolves when the thread is ready. */
async function startThread(
  file: string,
  workerData: ThreadStart,
  transferList: Transferable[],
): Promise<Worker> {
  const isWords = transferList.length === 0;
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData,
    transferList,
    resourceLimits: {
      maxYoungGenerationSizeMb: isWords ? YOUNG_GENERATION_OF_WORDS_MB : YOUNG_GENERATION_MB,
    },
  });
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
  });
  worker.removeAllListeners('error');
  return worker;
}
