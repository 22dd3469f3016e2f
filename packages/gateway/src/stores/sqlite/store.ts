/**
 * The embedded store: SQLite in one folder. A writer's thread commits what arrived together in one
 * flushed transaction; an indexer's thread follows it; reading happens on the caller's thread.
 * Upholds everything that `log.ts` says of a log, for every thread that has joined it.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

import { entryId } from '@open-presence/protocol';

import type {
  AppendResult,
  RankedQuery,
  Draft,
  Entry,
  Log,
  ReadEnd,
  Selection,
  Seq,
  Spool,
  RoomCount,
} from '../../log/log.ts';
import { type Outcome, OUTCOME_WIDTH, OUTCOMES, pack, type Packed } from './log/batch.ts';
import type { IndexStart, ToIndexer } from './index/index-thread.ts';
import { FileSpool, makeLargeFolders } from './log/large-files.ts';
import { lockFolder } from './log/folder-lock.ts';
import { Reader } from './reader.ts';
import { metaOf, openForReading, type DataPaths, dataPathsIn } from './schema.ts';
import { Shared } from './shared.ts';
import type {
  FromAppend,
  FromWriter,
  ToAppend,
  ToWriter,
  WriterStart,
} from './log/writer-thread.ts';
import { Watchers } from './watchers.ts';
import { WordsLine } from './words/client.ts';
import type { FromWords, ToWords, WordsStart } from './words/words-thread.ts';

interface Waiting {
  readonly draft: Packed;
  readonly resolve: (appended: AppendResult) => void;
  readonly reject: (error: Error) => void;
}

type Start = WriterStart | IndexStart | WordsStart;

const MOST_GATHERED = 32;
/** What a thread leaves behind is collected before it is more than this, while it is in the cache. */
const YOUNG_MB = 8;
/** Words are many and short-lived; those who read them are in no hurry. */
const YOUNG_WORDS_MB = 1;
const NO_BODY = new Uint8Array(0);

/**
 * Opens the log in a folder, which is made if it is not there. Resolves once the index has caught
 * up. Throws when another process has the folder, or what lies there is no log of ours.
 */
export async function openSqliteLog(options: SqliteOptions): Promise<OwnedLog> {
  const places = dataPathsIn(resolve(options.folder));
  makeFolder(places.folder);
  await using started = new AsyncDisposableStack();
  const lock = started.adopt(lockFolder(places), (held) => held.close());
  makeLargeFolders(places);
  const shared = new Shared();
  const { port1, port2 } = new MessageChannel();
  const startThread = async (file: string, start: Start): Promise<Worker> =>
    started.adopt(await thread(file, start), async (worker) => void (await worker.terminate()));
  const memory = shared.memory;
  const writer = await startThread('./log/writer-thread.ts', {
    places,
    shared: memory,
    index: port1,
  });
  const indexer = await startThread('./index/index-thread.ts', {
    places,
    shared: memory,
    writer: port2,
  });
  // Visitors don't wait until it has read all: what it knows, it says.
  const words = await startThread('./words/words-thread.ts', { places, shared: memory });
  const log = new OwnedSqliteLog({ places, shared, lock, writer, indexer, words }, options);
  // From here on the log closes them itself, each when it has finished.
  started.move();
  return log;
}

/**
 * The log that another thread of this process has opened, for the thread that was given the
 * connection. Must be disposed of before that log is.
 */
export function joinSqliteLog(connection: SqliteConnection): Log {
  return new SqliteLog(connection);
}

/** What a thread joins the log with. Transfer `writer` and `words` along with it. */
export interface SqliteConnection {
  readonly places: DataPaths;
  readonly shared: SharedArrayBuffer;
  readonly writer: MessagePort;
  readonly words: MessagePort;
}

/** The log in the thread that opened it, which others can join. */
export interface OwnedLog extends Log {
  connect(): SqliteConnection;
}

export interface SqliteOptions {
  readonly folder: string;
  /** Called with false when entries can no longer be stored, with true when they can again. */
  readonly onWritableChange?: (writable: boolean) => void;
  /** Called with the reason why the search index fails, and with undefined once it works again. */
  readonly onSearchFailure?: (reason: string | undefined) => void;
}

/** With its parents. Node's own way never ends where nothing can be made, as in `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  mkdirSync(path);
}

interface Parts {
  readonly places: DataPaths;
  readonly shared: Shared;
  readonly lock: DatabaseSync;
  readonly writer: Worker;
  readonly indexer: Worker;
  readonly words: Worker;
}

class SqliteLog implements Log {
  readonly id: string;
  readonly #places: DataPaths;
  readonly #shared: Shared;
  readonly #writer: MessagePort;
  readonly #words: WordsLine;
  readonly #reader: Reader;
  readonly #watchers: Watchers;
  #gathered: Waiting[] = [];
  #batch = 0;
  readonly #underWay = new Map<number, readonly Waiting[]>();
  readonly #spools = new Set<FileSpool>();
  #closing: Promise<void> | undefined;

  constructor({ places, shared, writer, words }: SqliteConnection) {
    this.#places = places;
    this.#shared = new Shared(shared);
    this.#writer = writer;
    this.id = nameOf(places);
    this.#words = new WordsLine(words);
    this.#reader = new Reader(places, this.#shared, this.#words);
    this.#watchers = new Watchers(this.#shared);
    writer.on('message', ({ batch, results }: FromAppend) => this.#settle(batch, results));
  }

  writable(): boolean {
    return this.#shared.writable;
  }

  head(): Seq {
    return this.#shared.head;
  }

  spool(): Spool {
    return new FileSpool(this.#places, this.#spools);
  }

  async append(draft: Draft): Promise<AppendResult> {
    if (this.#closing !== undefined) return { outcome: 'refused', code: 'unavailable' };
    const { kind, room, facets, key, body } = draft;
    if (body instanceof Uint8Array)
      return this.#hand({ kind, room, facets, key, body, large: undefined });
    if (!(body instanceof FileSpool))
      throw new TypeError('A spool belongs to the log that gave it.');
    const large = await body.seal();
    const appended = await this.#hand({ kind, room, facets, key, body: NO_BODY, large });
    if (large.marked && appended.outcome === 'appended') await this.#indexed(appended.stamp.seq);
    return appended;
  }

  async entry(seq: Seq): Promise<Entry | undefined> {
    return this.#reader.entry(seq);
  }

  readText(
    selection: Selection,
    joiner: ',\n' | '\n',
  ): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
    return this.#reader.read(selection, joiner);
  }

  readEntries(selection: Selection): AsyncGenerator<Entry, ReadEnd, undefined> {
    return this.#reader.entries(selection);
  }

  searchWatermark(): Seq {
    return this.#shared.searched;
  }

  readRanked(what: RankedQuery): AsyncGenerator<Entry, ReadEnd, undefined> {
    return this.#reader.best(what);
  }

  roomCounts(): readonly RoomCount[] {
    return this.#reader.tally();
  }

  watch(moved: () => void): Disposable {
    return this.#watchers.add(moved);
  }

  /** Stores what was handed over before, then closes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  #hand(draft: Packed): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      // What is handed over within one turn of the event loop travels together, unless it is so
      // much that the writer had better begin.
      if (this.#gathered.length === 0) setImmediate(() => this.#flush());
      this.#gathered.push({ draft, resolve, reject });
      if (this.#gathered.length >= MOST_GATHERED) this.#flush();
    });
  }

  #flush(): void {
    const waiting = this.#gathered;
    if (waiting.length === 0) return;
    this.#gathered = [];
    this.#batch += 1;
    this.#underWay.set(this.#batch, waiting);
    const drafts = pack(waiting.map(({ draft }) => draft));
    this.#writer.postMessage({ batch: this.#batch, drafts } satisfies ToAppend, [drafts]);
  }

  #settle(batch: number, results: Float64Array): void {
    const waiting = this.#underWay.get(batch) ?? [];
    this.#underWay.delete(batch);
    for (const [index, one] of waiting.entries()) {
      const at = index * OUTCOME_WIDTH;
      const [outcome = 0, seq = 0, time = 0, salt = 0] = results.subarray(at, at + OUTCOME_WIDTH);
      try {
        one.resolve(this.#appended(one.draft, OUTCOMES[outcome] ?? 'unavailable', seq, time, salt));
      } catch (error) {
        one.reject(error as Error);
      }
    }
  }

  #appended(draft: Packed, outcome: Outcome, seq: Seq, time: number, salt: number): AppendResult {
    if (outcome === 'out-of-space' || outcome === 'unavailable')
      return { outcome: 'refused', code: outcome };
    if (outcome === 'conflict') {
      const entry = this.#reader.entry(seq);
      if (entry === undefined) throw new Error(`The entry ${seq} of a key is missing.`);
      return { outcome, stamp: entry.stamp };
    }
    const { kind, room } = draft;
    return { outcome, stamp: { seq, id: entryId(time, seq, salt), kind, room, time } };
  }

  /** Facets that lie in a file are found only once they are indexed. */
  async #indexed(seq: Seq): Promise<void> {
    const shared = this.#shared;
    while (shared.indexed < seq && !shared.indexFails && this.#closing === undefined)
      await pause(5);
  }

  async #close(): Promise<void> {
    this.#flush();
    for (const spool of this.#spools) await spool[Symbol.asyncDispose]();
    while (this.#underWay.size > 0) await pause(1);
    this.#watchers[Symbol.dispose]();
    this.#writer.close();
    this.#words.close();
    await this.#reader.close();
  }
}

class OwnedSqliteLog extends SqliteLog implements OwnedLog {
  readonly #parts: Parts;
  #ended: Promise<void> | undefined;

  constructor(parts: Parts, { onWritableChange, onSearchFailure }: SqliteOptions) {
    super(connectionOf(parts));
    this.#parts = parts;
    parts.words.on('message', (message: FromWords) => {
      if (message !== 'ready') onSearchFailure?.(message.failure);
    });
    if (!parts.shared.writable) onWritableChange?.(false);
    parts.writer.on('message', (message: FromWriter) => {
      if (message !== 'ready') onWritableChange?.(message.writable);
    });
    for (const worker of [parts.writer, parts.indexer, parts.words]) {
      worker.on('error', (error) => {
        // A thread ends by itself only by a fault of ours: better no gateway than a false one.
        throw error;
      });
    }
  }

  connect(): SqliteConnection {
    return connectionOf(this.#parts);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#ended ??= this.#end();
    await this.#ended;
  }

  async #end(): Promise<void> {
    await super[Symbol.asyncDispose]();
    const { writer, indexer, words, lock } = this.#parts;
    const ends = [writer, indexer, words].map(
      (worker) => new Promise((end) => worker.once('exit', end)),
    );
    writer.postMessage('close' satisfies ToWriter);
    indexer.postMessage('close' satisfies ToIndexer);
    words.postMessage('close' satisfies ToWords);
    await Promise.all(ends);
    lock.close();
  }
}

/** Introduces one more thread to the writer and to the words. */
function connectionOf({ places, shared, writer, words }: Parts): SqliteConnection {
  const { port1, port2 } = new MessageChannel();
  writer.postMessage(port1 satisfies ToWriter, [port1]);
  const line = new MessageChannel();
  words.postMessage(line.port1 satisfies ToWords, [line.port1]);
  return { places, shared: shared.memory, writer: port2, words: line.port2 };
}

function nameOf(places: DataPaths): string {
  const log = openForReading(places.log);
  try {
    return String(metaOf(log, 'name'));
  } finally {
    log.close();
  }
}

/** Starts a thread and waits until it is ready for work. */
async function thread(file: string, start: Start): Promise<Worker> {
  const ports = 'index' in start ? [start.index] : 'writer' in start ? [start.writer] : [];
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: start,
    transferList: ports,
    resourceLimits: { maxYoungGenerationSizeMb: ports.length > 0 ? YOUNG_MB : YOUNG_WORDS_MB },
  });
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
  });
  worker.removeAllListeners('error');
  return worker;
}
