/**
 * The only writer of the log. Assigns seq, time, id and link to each draft, and commits many drafts
 * in one transaction; or stores copies of another gateway's entries, whose links it verifies. What it
 * reports as stored is flushed. When a commit fails, it reports none of its entries as stored, and the
 * next drafts get the same seqs.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { entryHead, entryId, SALTS } from '@open-presence/protocol';

import { facet } from '../../../log/facet.ts';
import type { CopyFault, CopyResult } from '../../../log/log-copier.ts';
import type { Seq } from '../../../log/log.ts';
import { assertStorageFault, StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, readMeta } from '../database.ts';
import { flushFolders } from '../prepare-folder.ts';
import type { SharedState } from '../shared-state.ts';
import type { ClockReport } from '../store-thread.ts';
import type { LargeBody, Outcome, PackedDraft, WriteResult } from './batch.ts';
import { BlockReader } from './block-reader.ts';
import { BlockWriter } from './block-writer.ts';
import type { EntryRow, NewRecord } from './record.ts';
import { FIRST_LINK, Linker } from './chain.ts';
import type { PackedCopy } from './copy-batch.ts';
import type { DraftForm } from './draft-form.ts';
import { keyColumn, keyIn } from './key-column.ts';
import { KeyLookup } from './key-lookup.ts';
import { finishUpload, removeUpload, uploadNames } from './large-files.ts';
import { LastCommitFile } from './last-commit.ts';
import { flushWal, openLogForWriting } from './log-database.ts';
import { LogClock } from './log-clock.ts';
import { OpenFiles } from './open-files.ts';
import type { UnpackedBatch } from './ordered-batch.ts';
import { DerivedSalts, RandomSalts, type Salts, saltsOf } from './salts.ts';
import { sha256Binary } from './sha256.ts';
import { type ErasedMessages, StreamMessages } from './stream-messages.ts';
import { type StreamPosition, StreamProgress } from './stream-progress.ts';
import { insertWithheldEarly, withheldInserter } from './withheld-table.ts';

const COMMA = Buffer.from(',');
const BRACE = Buffer.from('}');
const NO_SALT = Buffer.alloc(16);
const SQLITE_FULL = 13;
/** Large enough that a commit of small entries would fit as well. */
const PROBE = Buffer.alloc(256 * 1024);

type Failure = Extract<Outcome, 'out-of-space' | 'unavailable'>;

interface WithLarge {
  readonly large: LargeBody | undefined;
}

interface AppliedStream {
  readonly progress: StreamProgress;
  readonly messages: StreamMessages;
}

export class Writer {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #blocks: BlockWriter;
  readonly #reader: BlockReader;
  readonly #keys: KeyLookup;
  readonly #insertWithheld: ReturnType<typeof withheldInserter>;
  readonly #linker = new Linker();
  readonly #previousLink = Buffer.alloc(FIRST_LINK.length);
  readonly #random = new RandomSalts();
  readonly #lastCommit: LastCommitFile;
  readonly #clock: LogClock;
  #seq = 0;
  #time = 0;
  /** Set before the first write. */
  #openFiles: OpenFiles | undefined;
  /** Whether the data folder and the folders in it have been flushed. */
  #foldersAreFlushed = false;
  /** Whether everything in the WAL has been flushed. */
  #walIsFlushed = false;
  /** Whether seq, time and link are those of the last entry. */
  #lastIsLoaded = false;
  #hasWithheld = false;
  #fault: Error | undefined;
  #uploadFault: Error | undefined;
  #flushMs = 0;
  /** Set once a stream's messages are applied. */
  #stream: AppliedStream | undefined;
  /** Uploads of failed commits: the next commit shows whether an entry has them. */
  #unconfirmedUploads: string[] = [];

  constructor(
    paths: DataPaths,
    shared: SharedState,
    onClock: (report: ClockReport) => void = () => {},
  ) {
    this.#paths = paths;
    this.#shared = shared;
    this.#db = openLogForWriting(paths);
    this.#begin = this.#db.prepare('BEGIN IMMEDIATE');
    this.#end = this.#db.prepare('COMMIT');
    this.#blocks = new BlockWriter(this.#db);
    this.#reader = new BlockReader(this.#db, () => shared.withheldInLog);
    this.#keys = new KeyLookup(this.#db, paths, this.#reader, this.#blocks);
    this.#insertWithheld = withheldInserter(this.#db);
    this.#lastCommit = new LastCommitFile(paths, String(readMeta(this.#db, 'name')));
    this.#loadLast();
    this.#clock = new LogClock(this.#time, onClock);
    this.checkClock();
    try {
      this.#recover();
      this.#lastCommit.write(this.#seq, this.#linker.link);
    } catch (error) {
      // The entries can be read all the same.
      this.#failed(error);
    }
    rmSync(this.#probe, { force: true });
    for (const name of uploadNames(paths)) this.#finishUpload(name);
  }

  /** Why the last attempt to store failed; undefined if it succeeded. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** How long the last commit took to be written and flushed. */
  get flushMs(): number {
    return this.#flushMs;
  }

  /** Why an upload is still in its folder; undefined if none should be. */
  get uploadFault(): Error | undefined {
    return this.#uploadFault;
  }

  /** Why the file `last-commit` could not be written; undefined if it was. */
  get lastCommitFault(): Error | undefined {
    return this.#lastCommit.fault;
  }

  /** Why idempotency keys were made again from the entries since the last call, if they were. */
  takeKeysFault(): Error | undefined {
    return this.#keys.takeRebuilt();
  }

  /** Whether copies of withheld entries were stored since the last call. */
  takeWithheld(): boolean {
    const hasWithheld = this.#hasWithheld;
    this.#hasWithheld = false;
    return hasWithheld;
  }

  /** Stores the drafts in their order, in one transaction. */
  commit(drafts: readonly PackedDraft[]): WriteResult[] {
    const results: WriteResult[] = [];
    const failure = this.#transact(drafts, () => {
      const now = Math.max(this.#time, this.checkClock());
      for (const draft of drafts) results.push(this.#append(draft, now, this.#random));
    });
    if (failure === undefined) return results;
    return drafts.map(() => ({ outcome: failure, seq: 0, time: 0, salt: 0 }));
  }

  /**
   * Applies what a stream has put in order, with the position in the stream, in one transaction. Seq,
   * time, id, salts and link depend on nothing but the messages, so that all copies are equal. Returns
   * the results of each batch, none for one that was applied before. To be repeated after a failure.
   */
  apply(
    batches: readonly UnpackedBatch[],
    { stream, resumeAt }: Pick<StreamPosition, 'stream' | 'resumeAt'>,
  ): (readonly WriteResult[] | undefined)[] | Failure {
    const results: (readonly WriteResult[] | undefined)[] = [];
    const larges = [...largeNames(batches.flatMap(({ drafts }) => drafts))];
    const failure = this.#transact([], () => {
      this.#stream ??= {
        progress: new StreamProgress(this.#db),
        messages: new StreamMessages(this.#db),
      };
      for (const batch of batches) results.push(this.#applyMessage(batch, this.#stream));
      this.#stream.progress.store({ stream, resumeAt, head: this.#seq });
      this.#openFiles?.assertStored(larges.filter((name) => this.#isOfEntry(name)));
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

  #applyMessage(
    batch: UnpackedBatch,
    { progress, messages }: AppliedStream,
  ): readonly WriteResult[] | undefined {
    const { position, drafts } = batch;
    const action = progress.advance(position, batch.time, batch);
    if (action !== 'skip')
      for (const name of batch.unusedUploads ?? []) messages.unusedUpload(name);
    if (action === 'unused' && drafts.length > 0) messages.unused(position);
    if (action !== 'apply') return undefined;
    const first = this.#seq + 1;
    const results = this.#applyDrafts(batch);
    messages.applied(position, first, results);
    for (const [index, { outcome }] of results.entries()) {
      const large = drafts[index]?.large;
      if (large !== undefined && outcome !== 'appended') messages.unusedUpload(large.name);
    }
    return results;
  }

  #applyDrafts({ drafts, nonce, time, forms }: UnpackedBatch): WriteResult[] {
    const now = Math.max(this.#time, time);
    return drafts.map((draft, index) => {
      const form = forms?.[index] ?? { salts: saltsOf(nonce, index) };
      if ('isRefused' in form) return this.#refuse(draft);
      const result = this.#applyDraft(draft, now, form);
      // The other copies can read the entry that this one cannot.
      if (result.outcome === 'unavailable')
        throw new StorageFault('An entry with the idempotency key of a draft cannot be read.');
      return result;
    });
  }

  #applyDraft(draft: PackedDraft, time: number, form: DraftForm): WriteResult {
    if ('salts' in form) return this.#append(draft, time, new DerivedSalts(form.salts));
    if ('repeats' in form) return this.#repeated(form.repeats);
    const { digest, key, idSalt } = form;
    const { kind, room } = draft;
    const seq = this.#seq + 1;
    const head = entryHead({ id: entryId(time, seq, idSalt), seq, kind, room, time });
    this.#linker.add(head, Buffer.from(digest).toString('latin1'), key && sha256Binary(key));
    const facets = Buffer.concat([facet('kind', kind), facet('room', room)]);
    const left = { kind, room, facets, body: Buffer.alloc(0), large: undefined };
    this.#store(left, { time, salt: NO_SALT, key, isWithheld: true });
    if (key !== undefined) this.#keys.put(keyIn(key), seq);
    insertWithheldEarly(this.#db, seq, form);
    return { outcome: 'appended', seq, time, salt: idSalt };
  }

  /** Without its body; an entry that has its key is the same all the same. */
  #refuse(draft: PackedDraft): WriteResult {
    const existing = draft.key && this.#find(draft.key, draft, digestOf(draft));
    return existing ?? { outcome: 'unavailable', seq: 0, time: 0, salt: 0 };
  }

  #repeated(seq: Seq): WriteResult {
    if (seq >= this.#blocks.firstUnstored) this.#blocks.flush();
    const entry = this.#reader.entry(seq);
    const stamp = entry === undefined ? { time: 0, salt: 0 } : stampOf(entry);
    return { outcome: 'repeated', seq, ...stamp };
  }

  /** Stores the copies in their order, in one transaction, as far as each follows the one before. */
  commitCopies(copies: Iterable<PackedCopy>): CopyResult {
    let result: CopyResult = { outcome: 'stored' };
    const larges: WithLarge[] = [];
    const failure = this.#transact(larges, () => {
      for (const copy of copies) {
        const { seq, large } = copy;
        if (large !== undefined) larges.push({ large });
        // The files of those behind one that is refused are removed with its own.
        if (result.outcome === 'refused') continue;
        const fault = this.#appendCopy(copy);
        if (fault !== undefined) result = { outcome: 'refused', seq, fault };
      }
    });
    return failure === undefined ? result : { outcome: 'failed', code: failure };
  }

  /** The time for an entry now. Tells the other threads how it differs from the machine's. */
  checkClock(): number {
    const now = this.#clock.now();
    this.#shared.clockAhead = this.#clock.ahead;
    return now;
  }

  /** Notices, between commits, that files were moved or removed, and updates the shared state. */
  checkFiles(): void {
    try {
      this.#openFiles?.assertAll();
    } catch (error) {
      this.#fail(error, []);
    }
  }

  /** Commits what `append` adds, or returns why it could not. `entries`: all that it may add. */
  #transact(entries: readonly WithLarge[], append: () => void): Failure | undefined {
    try {
      if (!this.#shared.writable) this.#openFiles?.assertAll();
      this.#recover();
      this.#begin.run();
      append();
      this.#blocks.flush();
      const flushing = performance.now();
      this.#end.run();
      this.#flushMs = performance.now() - flushing;
      this.#openFiles?.assertStored(largeNames(entries));
    } catch (error) {
      return this.#fail(error, entries);
    }
    this.#shared.head = this.#seq;
    this.#lastCommit.write(this.#seq, this.#linker.link);
    this.#unconfirmedUploads.push(...largeNames(entries));
    this.#committed();
    return undefined;
  }

  /** Tries whether storing works again, and updates the shared state. */
  probe(): void {
    try {
      this.#saveLostWal();
      this.#openFiles?.assertAll();
      this.#recover();
      const handle = openSync(this.#probe, 'w');
      try {
        writeSync(handle, PROBE);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
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
    this.#openFiles?.close();
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
    if (!this.#walIsFlushed) flushWal(this.#db);
    this.#walIsFlushed = true;
    this.#openFiles ??= new OpenFiles(this.#paths);
    if (!this.#lastIsLoaded) this.#loadLast();
  }

  /**
   * Moves what a removed WAL has into the database, since no file of the folder has it otherwise.
   * Waits for readers of older snapshots, which would leave the newest entries in the WAL.
   */
  #saveLostWal(): void {
    if (this.#openFiles?.hasLostWal() === true) this.#db.exec('PRAGMA wal_checkpoint(FULL)');
  }

  /** After a successful commit, nothing of the failed ones before it can reappear. */
  #committed(): void {
    this.#fault = undefined;
    this.#uploadFault = undefined;
    this.#shared.writable = true;
    for (const name of this.#unconfirmedUploads.splice(0)) this.#finishUpload(name);
  }

  #append(draft: PackedDraft, time: number, salts: Salts): WriteResult {
    const digest = digestOf(draft);
    const existing = draft.key && this.#find(draft.key, draft, digest);
    if (existing !== undefined) return existing;
    const seq = this.#seq + 1;
    const idSalt = salts.idSalt();
    const { kind, room } = draft;
    const head = entryHead({ id: entryId(time, seq, idSalt), seq, kind, room, time });
    const salt = salts.next();
    const key = draft.key && keyColumn(salts.next(), draft.key);
    this.#linker.add(head, this.#linker.digestOf(salt, digest), key && sha256Binary(key));
    this.#store(draft, { time, salt, key });
    if (draft.key) this.#keys.put(draft.key, seq);
    return { outcome: 'appended', seq, time, salt: idSalt };
  }

  /** Returns why it does not follow, if so. */
  #appendCopy(copy: PackedCopy): CopyFault | undefined {
    const { seq, time, head, salt, link, keyHash, withheld } = copy;
    if (seq <= this.#seq) return this.#hasLink(seq, link) ? undefined : 'differs';
    if (seq > this.#seq + 1) return 'gap';
    if (time < this.#time) return 'changed';
    const linker = this.#linker;
    this.#previousLink.set(linker.link);
    const digest = withheld
      ? Buffer.from(withheld.digest).toString('latin1')
      : linker.digestOf(salt, digestOf(copy));
    linker.add(head, digest, keyHash && Buffer.from(keyHash).toString('latin1'));
    if (!linker.link.equals(link)) {
      linker.continueAfter(this.#previousLink);
      return 'changed';
    }
    this.#store(copy, { time, salt, key: keyHash, isWithheld: withheld !== undefined });
    if (withheld !== undefined) {
      this.#insertWithheld(seq, withheld, true);
      this.#hasWithheld = true;
    }
    return undefined;
  }

  /** Also where the entry that is stored cannot be read. */
  #hasLink(seq: Seq, link: Uint8Array): boolean {
    if (seq >= this.#blocks.firstUnstored) this.#blocks.flush();
    try {
      return this.#reader.entry(seq)?.link.equals(link) ?? true;
    } catch (error) {
      if (isSpoiled(error)) return true;
      throw error;
    }
  }

  /** Stores the entry of which the link was made last. */
  #store(
    { kind, room, facets, body, large }: Omit<PackedDraft, 'key'>,
    stamp: Pick<NewRecord, 'time' | 'salt' | 'key' | 'isWithheld'>,
  ): void {
    const { head: own, link } = this.#linker;
    let text: Uint8Array[];
    if (large !== undefined) text = large.size > 1 ? [own, COMMA] : [own];
    else text = body.length === 0 ? [own, BRACE] : [own, COMMA, body, BRACE];
    const marked = large?.marked === true;
    const fields = { kind, room, head: own.length, large, marked, facets, text, link };
    this.#blocks.add(this.#seq + 1, { ...fields, ...stamp });
    this.#seq += 1;
    this.#time = stamp.time;
  }

  #find(key: Uint8Array, draft: PackedDraft, digest: string): WriteResult | undefined {
    const found = this.#keys.find(key, draft, Buffer.from(digest, 'latin1'));
    if (found === undefined) return undefined;
    const { outcome, entry } = found;
    if (entry === undefined) return { outcome, seq: 0, time: 0, salt: 0 };
    return { outcome, seq: entry.seq, ...stampOf(entry) };
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
    this.#blocks.discard();
    this.#reader.forget();
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#saveLostWal();
      this.#loadLast();
      // The frame that commits was not written: nothing can have them, and their space is needed.
      if (isFull) for (const name of uploads.splice(0)) this.#finishUpload(name);
    } catch (rollbackError) {
      // The next attempt fails in the same way.
      assertStorageFault(rollbackError);
    }
    // Last, so that whoever is told that nothing is stored finds everything else in the folder.
    this.#failed(error);
    this.#unconfirmedUploads.push(...uploads);
    return isFull ? 'out-of-space' : 'unavailable';
  }

  /** Removes the files of an upload where no entry needs them. */
  #finishUpload(name: string): void {
    try {
      if (this.#isOfEntry(name)) finishUpload(this.#paths, name);
      else removeUpload(this.#paths, name);
    } catch (error) {
      assertStorageFault(error);
      // The next commit tries again.
      this.#unconfirmedUploads.push(name);
      this.#uploadFault = error;
    }
  }

  #isOfEntry(upload: string): boolean {
    return this.#db.prepare('SELECT 1 FROM large WHERE name = ?').get(upload) !== undefined;
  }

  #failed(error: unknown): void {
    assertStorageFault(error);
    this.#fault = error;
    this.#shared.writable = false;
  }

  #loadLast(): void {
    const last = this.#reader.last();
    this.#seq = last?.seq ?? 0;
    this.#time = last?.time ?? 0;
    this.#linker.continueAfter(last?.link ?? FIRST_LINK);
    this.#shared.head = this.#seq;
    this.#lastIsLoaded = true;
  }
}

function stampOf({ time, text }: EntryRow): Pick<WriteResult, 'time' | 'salt'> {
  const id = text.toString('latin1', 7, 43);
  return { time, salt: Number.parseInt(id.slice(-12), 16) % SALTS };
}

export function isDiskFull(error: Error): boolean {
  return 'errcode' in error && error.errcode === SQLITE_FULL;
}

function* largeNames(entries: readonly WithLarge[]): Generator<string> {
  for (const { large } of entries) if (large !== undefined) yield large.name;
}

/** SHA-256 of the body, as a binary string. */
function digestOf({ body, large }: Pick<PackedDraft, 'body' | 'large'>): string {
  if (large === undefined) return sha256Binary(body);
  return Buffer.from(large.digest, 'hex').toString('latin1');
}
