/**
 * The only writer of the log. Commits many drafts in one transaction, or copies of another gateway's
 * entries, or the messages of a stream; `EntryAppender` makes the entries of them. Owns what faults
 * of the disk leave, and the files of large bodies once their entry is committed. What it reports as
 * stored is flushed. When a commit fails, it reports none of its entries as stored, and the
 * next drafts get the same seqs.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { CopyResult } from '../../../log/log-copier.ts';
import { assertStorageFault, StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isDiskFull, readMeta } from '../database.ts';
import { flushFolders } from '../prepare-folder.ts';
import type { SharedState } from '../shared-state.ts';
import type { StreamPosition, UnpackedBatch } from '../../../log/ordered-batch.ts';
import type { LargeBody, Outcome, PackedDraft, WriteResult } from '../../../log/packed-drafts.ts';
import type { ErasedMessages } from '../../../log/replica.ts';
import type { PackedCopy } from '../replica/copy-batch.ts';
import { EntryAppender } from './entry-appender.ts';
import { removeUnused, removeUpload } from '../large/large-files.ts';
import { LastCommitFile } from './last-commit.ts';
import { randomSalts } from '../log/chain.ts';
import { flushWal, openLogForWriting } from '../log/log-database.ts';
import { MessageApplier } from '../replica/message-applier.ts';
import { StreamMessages } from '../replica/stream-messages.ts';
import { Reserve } from './reserve.ts';

/** Large enough that a commit of small entries would fit as well. */
const PROBE = Buffer.alloc(256 * 1024);

type Failure = Extract<Outcome, 'out-of-space' | 'unavailable'>;

interface WithLarge {
  readonly large: LargeBody | undefined;
}

export class Writer {
  readonly reserve: Reserve;
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #entries: EntryAppender;
  readonly #lastCommit: LastCommitFile;
  #foldersAreFlushed = false;
  /** Whether everything in the WAL has been flushed. */
  #walIsFlushed = false;
  /** Whether seq, time and link are those of the last entry. */
  #lastIsLoaded = false;
  #fault: Error | undefined;
  #uploadFault: Error | undefined;
  #flushMs = 0;
  /** Set once a stream's messages are applied. */
  #stream: MessageApplier | undefined;
  /** Uploads of failed commits: the next commit shows whether an entry has them. */
  #unconfirmedUploads: string[] = [];

  constructor(paths: DataPaths, shared: SharedState) {
    this.#paths = paths;
    this.#shared = shared;
    this.reserve = new Reserve(paths);
    this.#db = openLogForWriting(paths);
    this.#begin = this.#db.prepare('BEGIN IMMEDIATE');
    this.#end = this.#db.prepare('COMMIT');
    this.#entries = new EntryAppender(this.#db, paths);
    this.#lastCommit = new LastCommitFile(paths, String(readMeta(this.#db, 'name')));
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
    // The first may find that the file has changed, and the second makes it again.
    for (const _ of [1, 2]) while (this.addKeys() === 'more');
  }

  /** Why these parts fail now; for keys, also whether they have failed since the last call. */
  takeFaults(): Readonly<Record<'storing' | 'lastCommit' | 'keys' | 'uploads', Error | undefined>> {
    return {
      storing: this.#fault,
      lastCommit: this.#lastCommit.fault,
      keys: this.#entries.keys.takeFault(),
      // Why the file of an upload is still there.
      uploads: this.#uploadFault,
    };
  }

  /** Whether nothing can be stored because the disk is full. */
  get isFull(): boolean {
    return this.#fault !== undefined && isDiskFull(this.#fault);
  }

  /** How long the last commit took to be written and flushed. */
  get flushMs(): number {
    return this.#flushMs;
  }

  /** Adds some of the idempotency keys that cannot be found now, if there are any. */
  addKeys(): 'complete' | 'more' | 'failed' {
    const { keys, seq } = this.#entries;
    keys.checkFile();
    const canStore = this.#lastIsLoaded && this.#shared.writable;
    if (!keys.isComplete) return canStore ? keys.step(seq) : 'failed';
    if (canStore) keys.store();
    return 'complete';
  }

  /** Whether copies of withheld entries were stored since the last call. */
  takeWithheld(): boolean {
    return this.#entries.takeWithheld();
  }

  /** Stores the drafts in their order, in one transaction. */
  commit(drafts: readonly PackedDraft[]): WriteResult[] {
    const results: WriteResult[] = [];
    const failure = this.#transact(drafts, () => {
      const now = this.now();
      for (const draft of drafts) results.push(this.#entries.append(draft, now, randomSalts()));
      return results.some(({ outcome }) => outcome === 'appended');
    });
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
    const all = batches.flatMap(({ drafts }) => drafts);
    const larges = [...largeNames(all)];
    const hasKeys = all.some(({ key }) => key !== undefined);
    const failure = this.#transact([], () => {
      this.#stream ??= new MessageApplier(this.#db, this.#entries);
      for (const batch of batches) results.push(this.#stream.apply(batch));
      this.#stream.store({ stream, resumeAt });
      // Another copy may know an entry that has the key of a draft.
      if (hasKeys && !this.#entries.keys.isComplete)
        throw new StorageFault('It is unknown now which entries have idempotency keys.');
    });
    if (failure !== undefined) {
      this.#stream = undefined;
      return failure;
    }
    for (const name of larges) this.#finishUpload(name);
    return results;
  }

  /** Notes that messages are erased in the stream. What fails is erased again. */
  erasedInStream(erased: ErasedMessages): void {
    this.#transact([], () => {
      new StreamMessages(this.#db).erased(erased);
    });
  }

  /** Stores the copies in order, in one transaction, until one does not follow from the entry before it. */
  commitCopies(copies: Iterable<PackedCopy>): CopyResult {
    let result: CopyResult = { outcome: 'stored' };
    const larges: WithLarge[] = [];
    const failure = this.#transact(larges, () => {
      for (const copy of copies) {
        const { seq, large } = copy;
        if (large !== undefined) larges.push({ large });
        // The files of drafts after a refused one are removed with its own.
        if (result.outcome === 'refused') continue;
        const fault = this.#entries.appendCopy(copy);
        if (fault !== undefined) result = { outcome: 'refused', seq, fault };
      }
    });
    return failure === undefined ? result : { outcome: 'failed', code: failure };
  }

  /** The time for an entry now. */
  now(): number {
    return Math.max(Date.now(), this.#entries.time);
  }

  /** `entries`: all that `append` may add. It may say that it has added nothing, which shows no working disk. */
  #transact(entries: readonly WithLarge[], append: () => boolean | undefined): Failure | undefined {
    let hasAdded = true;
    try {
      this.#recover();
      this.#begin.run();
      hasAdded = append() ?? true;
      const flushing = performance.now();
      this.#end.run();
      this.#flushMs = performance.now() - flushing;
    } catch (error) {
      return this.#fail(error, entries);
    }
    this.#shared.newestTime = this.#entries.time;
    this.#shared.head = this.#entries.seq;
    this.#entries.keys.commit(this.#entries.seq);
    this.#lastCommit.write(this.#entries.seq, this.#entries.link);
    this.#unconfirmedUploads.push(...largeNames(entries));
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
    this.#entries.keys.close();
    this.#lastCommit[Symbol.dispose]();
    this.#db.close();
  }

  get #probe(): string {
    return join(this.#paths.folder, 'probe');
  }

  /** Must precede every write: repairs what an earlier process or a failed commit left. */
  #recover(): void {
    if (!this.#foldersAreFlushed) flushFolders(this.#paths);
    this.#foldersAreFlushed = true;
    this.reserve.keep();
    if (!this.#walIsFlushed) flushWal(this.#db);
    this.#walIsFlushed = true;
    if (!this.#lastIsLoaded) this.#loadLast();
  }

  /** After a successful commit, nothing of the failed ones before it can reappear. */
  #committed(): void {
    this.#fault = undefined;
    this.#uploadFault = undefined;
    this.#shared.writable = true;
    for (const name of this.#unconfirmedUploads.splice(0)) this.#finishUpload(name);
  }

  /**
   * Keeps the connection: its next commit overwrites what the failed one left in the WAL. A new
   * connection would take that for committed, although it was never flushed.
   */
  #fail(error: unknown, entries: readonly WithLarge[]): Failure {
    assertStorageFault(error);
    const isFull = isDiskFull(error);
    const uploads = [...largeNames(entries)];
    this.#lastIsLoaded = false;
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#loadLast();
      // The commit's frame was not written, so no entry can have these files, and their space is needed.
      if (isFull) for (const name of uploads.splice(0)) this.#finishUpload(name);
    } catch (rollbackError) {
      // The next attempt fails in the same way.
      assertStorageFault(rollbackError);
    }
    // Comes last: after callers hear of the failure, the rest of the folder is in order.
    this.#failed(error);
    this.#unconfirmedUploads.push(...uploads);
    return isFull ? 'out-of-space' : 'unavailable';
  }

  #removeUnused(): void {
    try {
      removeUnused(this.#paths, (name) => this.#entries.hasLarge(name));
    } catch (error) {
      // The next start tries again.
      assertStorageFault(error);
      this.#uploadFault = error;
    }
  }

  /** Removes the files of an upload where no entry needs them. */
  #finishUpload(name: string): void {
    try {
      if (!this.#entries.hasLarge(name)) removeUpload(this.#paths, name);
    } catch (error) {
      assertStorageFault(error);
      // The next commit tries again.
      this.#unconfirmedUploads.push(name);
      this.#uploadFault = error;
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

function* largeNames(entries: readonly WithLarge[]): Generator<string> {
  for (const { large } of entries) if (large !== undefined) yield large.name;
}
