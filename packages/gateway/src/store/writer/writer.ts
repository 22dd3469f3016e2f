/**
 * The only writer of the log. Commits many drafts in one transaction, or copies of another gateway's
 * entries, or the messages of a stream; `EntryAppender` makes the entries of them. Owns what faults
 * of the disk leave. What it reports as stored is flushed. When a commit fails, it reports none of its
 * entries as stored, and the next drafts get the same seqs.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { CopyResult } from '../../log/log-copier.ts';
import { assertStorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isDiskFull, transact } from '../database.ts';
import { flushFolders } from '../prepare-folder.ts';
import type { SharedState } from '../shared-state.ts';
import type { StreamPosition, UnpackedBatch } from '../../log/ordered-batch.ts';
import type { Outcome, PackedDraft, WriteResult } from '../../log/packed-drafts.ts';
import type { ErasedMessages } from '../../log/replica.ts';
import type { PackedCopy } from '../replica/copy-batch.ts';
import { EntryAppender } from './entry-appender.ts';
import { removeUnused, removeUpload } from '../large/large-files.ts';
import { LastCommit } from './last-commit.ts';
import { randomSalts } from '../log/chain.ts';
import { flushWal, openLogForWriting } from '../log/log-database.ts';
import { MessageApplier } from '../replica/message-applier.ts';
import { StreamMessages } from '../replica/stream-messages.ts';
import { Reserve } from './reserve.ts';

/** Large enough that a commit of small entries would fit as well. */
const PROBE = Buffer.alloc(256 * 1024);
/** Readers hold the WAL for less. */
const BUSY_TIMEOUT_MS = 100;

type Failure = Extract<Outcome, 'out-of-space' | 'unavailable'>;

export class Writer {
  readonly #reserve: Reserve;
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #entries: EntryAppender;
  readonly #lastCommit: LastCommit;
  /** Whether what an earlier process left is flushed: its folders, and its WAL. */
  #isFlushed = false;
  /** Whether seq, time and link are those of the last entry. */
  #lastIsLoaded = false;
  #fault: Error | undefined;
  #flushMs = 0;
  /** Set once a stream's messages are applied. */
  #stream: MessageApplier | undefined;

  constructor(paths: DataPaths, shared: SharedState) {
    this.#paths = paths;
    this.#shared = shared;
    this.#reserve = new Reserve(paths);
    this.#db = openLogForWriting(paths);
    this.#begin = this.#db.prepare('BEGIN IMMEDIATE');
    this.#end = this.#db.prepare('COMMIT');
    this.#entries = new EntryAppender(this.#db);
    this.#lastCommit = new LastCommit(paths);
    this.#loadLast();
    try {
      this.#recover();
      this.#lastCommit.write(this.#entries.seq, this.#entries.link);
    } catch (error) {
      // The entries can still be read.
      this.#failed(error);
    }
    rmSync(this.#probe, { force: true });
    this.#removeUnused();
  }

  /** Why nothing can be stored now. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Whether nothing can be stored because the disk is full. */
  get isFull(): boolean {
    return this.#fault !== undefined && isDiskFull(this.#fault);
  }

  /** How long the last commit took to be written and flushed. */
  get flushMs(): number {
    return this.#flushMs;
  }

  /** Whether copies of withheld entries were stored since the last call. */
  takeWithheld(): boolean {
    return this.#entries.takeWithheld();
  }

  /** Stores the drafts in their order, in one transaction. */
  commit(drafts: readonly PackedDraft[]): WriteResult[] {
    const results: WriteResult[] = [];
    const failure = this.#transact(() => {
      const now = this.now();
      for (const draft of drafts) results.push(this.#entries.append(draft, now, randomSalts()));
      return results.some(({ outcome }) => outcome === 'appended');
    });
    // Nothing of a commit that found the disk full was written: no entry can have these files.
    if (failure !== 'unavailable') this.#removeUploads(uploadsOf(drafts));
    if (failure === undefined) return results;
    return drafts.map(() => ({ outcome: failure, seq: 0, time: 0, salt: 0 }));
  }

  /**
   * Applies messages and their position in one transaction, alike on all copies. After a failure, the caller
   * repeats it.
   */
  apply(
    batches: readonly UnpackedBatch[],
    { stream, resumeAt }: Pick<StreamPosition, 'stream' | 'resumeAt'>,
  ): (readonly WriteResult[] | undefined)[] | Failure {
    const results: (readonly WriteResult[] | undefined)[] = [];
    const failure = this.#transact(() => {
      this.#stream ??= new MessageApplier(this.#db, this.#entries);
      for (const batch of batches) results.push(this.#stream.apply(batch));
      this.#stream.store({ stream, resumeAt });
    });
    if (failure !== undefined) {
      this.#stream = undefined;
      return failure;
    }
    this.#removeUploads(uploadsOf(batches.flatMap(({ drafts }) => drafts)));
    return results;
  }

  /** Notes that messages are erased in the stream. What fails is erased again. */
  erasedInStream(erased: ErasedMessages): void {
    this.#transact(() => {
      new StreamMessages(this.#db).erased(erased);
    });
  }

  /** Stores the copies in order, in one transaction, until one does not follow from the entry before it. */
  commitCopies(copies: Iterable<PackedCopy>): CopyResult {
    let result: CopyResult = { outcome: 'stored' };
    const received = [...copies];
    const failure = this.#transact(() => {
      for (const copy of received) {
        const fault = this.#entries.appendCopy(copy);
        if (fault !== undefined) result = { outcome: 'refused', seq: copy.seq, fault };
        if (fault !== undefined) break;
      }
    });
    if (failure !== 'unavailable') this.#removeUploads(uploadsOf(received));
    return failure === undefined ? result : { outcome: 'failed', code: failure };
  }

  /** Changes something else than entries, in one transaction, also on a full disk. Throws where nothing has changed. */
  change<T>(work: (log: DatabaseSync) => T): T {
    return this.#reserve.use(() => {
      this.#flush();
      return transact(this.#db, () => work(this.#db));
    });
  }

  /** Leaves nothing in the WAL. Returns false where a reader holds it for longer than this. */
  truncateWal(): boolean {
    this.#db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    try {
      return this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
    } finally {
      this.#db.exec('PRAGMA busy_timeout = 5000');
    }
  }

  /** The time for an entry now. */
  now(): number {
    return Math.max(Date.now(), this.#entries.time);
  }

  /** `append` may say that it has added nothing, which shows no working disk. */
  #transact(append: () => boolean | undefined): Failure | undefined {
    let hasAdded = true;
    try {
      this.#recover();
      this.#begin.run();
      hasAdded = append() ?? true;
      const flushing = performance.now();
      this.#end.run();
      this.#flushMs = performance.now() - flushing;
    } catch (error) {
      return this.#fail(error);
    }
    this.#shared.newestTime = this.#entries.time;
    this.#shared.head = this.#entries.seq;
    this.#lastCommit.write(this.#entries.seq, this.#entries.link);
    if (hasAdded || this.#shared.writable) this.#committed();
    return undefined;
  }

  /** Tries whether storing works again, and updates the shared state. */
  probe(): void {
    try {
      this.#recover();
      try {
        writeFileSync(this.#probe, PROBE, { flush: true });
      } finally {
        rmSync(this.#probe, { force: true });
      }
      this.#db.exec("INSERT OR REPLACE INTO meta VALUES ('probed', unixepoch())");
      this.#committed();
    } catch (error) {
      // Still read-only.
      assertStorageFault(error);
    }
  }

  close(): void {
    this.#lastCommit[Symbol.dispose]();
    this.#db.close();
  }

  get #probe(): string {
    return join(this.#paths.folder, 'probe');
  }

  #flush(): void {
    if (this.#isFlushed) return;
    flushFolders(this.#paths);
    flushWal(this.#db);
    this.#isFlushed = true;
  }

  /** Must precede every write: repairs what an earlier process or a failed commit left. */
  #recover(): void {
    this.#flush();
    this.#reserve.keep();
    if (!this.#lastIsLoaded) this.#loadLast();
  }

  /** After a successful commit, nothing of the failed ones before it can reappear. */
  #committed(): void {
    this.#fault = undefined;
    this.#shared.writable = true;
  }

  /**
   * Keeps the connection: its next commit overwrites what the failed one left in the WAL. A new
   * connection would take that for committed, although it was never flushed.
   */
  #fail(error: unknown): Failure {
    assertStorageFault(error);
    this.#lastIsLoaded = false;
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#loadLast();
    } catch (rollbackError) {
      // The next attempt fails in the same way.
      assertStorageFault(rollbackError);
    }
    // Comes last: after callers hear of the failure, the rest of the folder is in order.
    this.#failed(error);
    return isDiskFull(error) ? 'out-of-space' : 'unavailable';
  }

  #removeUnused(): void {
    try {
      removeUnused(this.#paths, (name) => this.#entries.hasLarge(name));
    } catch (error) {
      // The next start tries again.
      assertStorageFault(error);
    }
  }

  /** Removes the files of uploads that no entry has. */
  #removeUploads(names: Iterable<string>): void {
    try {
      for (const name of names) if (!this.#entries.hasLarge(name)) removeUpload(this.#paths, name);
    } catch (error) {
      // The next start tries again.
      assertStorageFault(error);
    }
  }

  #failed(error: unknown): void {
    assertStorageFault(error);
    this.#fault = error;
    this.#shared.writable = false;
  }

  #loadLast(): void {
    this.#entries.loadLast();
    this.#shared.newestTime = this.#entries.time;
    this.#shared.head = this.#entries.seq;
    this.#lastIsLoaded = true;
  }
}

function uploadsOf(entries: readonly Pick<PackedDraft, 'large'>[]): string[] {
  return entries.flatMap(({ large }) => (large === undefined ? [] : [large.name]));
}
