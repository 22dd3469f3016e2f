/**
 * The only writer of the log. Assigns seq, time, id and link to each draft, and commits many drafts
 * in one transaction. What it reports as appended is flushed. When a commit fails, it reports none
 * of its entries as appended, and the next drafts get the same seqs.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { entryHead, entryId, SALTS, type Stamp } from '@open-presence/protocol';

import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { readMeta } from '../database.ts';
import { flushFolders } from '../prepare-folder.ts';
import type { SharedState } from '../shared-state.ts';
import type { ClockReport } from '../store-thread.ts';
import type { Outcome, PackedDraft, WriteResult } from './batch.ts';
import { keyColumn, linkedKey } from './key-column.ts';
import { KeyLookup } from './key-lookup.ts';
import { finishUpload, removeUpload, uploadNames } from './large-files.ts';
import { LastCommitFile } from './last-commit.ts';
import { FIRST_LINK, flushWal, linkOf, openLogForWriting } from './log-database.ts';
import { LogClock } from './log-clock.ts';
import { OpenFiles } from './open-files.ts';
import { sha256 } from './sha256.ts';

const COMMA = Buffer.from(',');
const BRACE = Buffer.from('}');
const SQLITE_FULL = 13;
/** Large enough that a commit of small entries would fit as well. */
const PROBE = Buffer.alloc(256 * 1024);

export class Writer {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #insert: StatementSync;
  readonly #keys: KeyLookup;
  readonly #stampOf: StatementSync;
  readonly #lastCommit: LastCommitFile;
  readonly #clock: LogClock;
  #seq = 0;
  #time = 0;
  #link: Uint8Array = FIRST_LINK;
  /** Set before the first write. */
  #openFiles: OpenFiles | undefined;
  /** Whether the data folder and the folders in it have been flushed. */
  #foldersAreFlushed = false;
  /** Whether everything in the WAL has been flushed. */
  #walIsFlushed = false;
  /** Whether seq, time and link are those of the last entry. */
  #lastIsLoaded = false;
  #fault: Error | undefined;
  #uploadFault: Error | undefined;
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
    this.#insert = this.#db.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#keys = new KeyLookup(this.#db, paths);
    this.#stampOf = this.#db.prepare(
      'SELECT time, substr(text, 8, 36) AS id FROM entries WHERE seq = ?',
    );
    this.#lastCommit = new LastCommitFile(paths, String(readMeta(this.#db, 'name')));
    this.#loadLast();
    this.#clock = new LogClock(this.#time, onClock);
    this.checkClock();
    try {
      this.#recover();
      this.#lastCommit.write(this.#seq, this.#link);
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

  /** Why an upload is still in its folder; undefined if none should be. */
  get uploadFault(): Error | undefined {
    return this.#uploadFault;
  }

  /** Why the file `last-commit` could not be written; undefined if it was. */
  get lastCommitFault(): Error | undefined {
    return this.#lastCommit.fault;
  }

  /** Stores the drafts in their order, in one transaction. */
  commit(drafts: readonly PackedDraft[]): WriteResult[] {
    const results: WriteResult[] = [];
    const uploads: string[] = [];
    try {
      if (!this.#shared.writable) this.#openFiles?.assertAll();
      this.#recover();
      this.#begin.run();
      const now = Math.max(this.#time, this.checkClock());
      for (const draft of drafts) results.push(this.#append(draft, now, uploads));
      this.#end.run();
      this.#openFiles?.assertStored(largeNames(drafts));
    } catch (error) {
      return this.#fail(error, drafts);
    }
    this.#shared.head = this.#seq;
    this.#lastCommit.write(this.#seq, this.#link);
    this.#unconfirmedUploads.push(...uploads);
    this.#committed();
    return results;
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

  /** Moves what a removed WAL has into the database, since no file of the folder has it otherwise. */
  #saveLostWal(): void {
    if (this.#openFiles?.hasLostWal() === true) this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** After a successful commit, nothing of the failed ones before it can reappear. */
  #committed(): void {
    this.#fault = undefined;
    this.#uploadFault = undefined;
    this.#shared.writable = true;
    for (const name of this.#unconfirmedUploads.splice(0)) this.#finishUpload(name);
  }

  #append(draft: PackedDraft, time: number, uploads: string[]): WriteResult {
    const body = draft.large ? Buffer.from(draft.large.digest, 'hex') : sha256(draft.body);
    const existing = draft.key && this.#keys.find(draft.key, draft, body);
    if (existing !== undefined) {
      if (draft.large) uploads.push(draft.large.name);
      return this.#existing(existing.seq, existing.outcome);
    }
    const seq = this.#seq + 1;
    const salt = Math.floor(Math.random() * SALTS);
    const stamp: Stamp = {
      id: entryId(time, seq, salt),
      seq,
      kind: draft.kind,
      room: draft.room,
      time,
    };
    this.#store(stamp, draft, body);
    if (draft.key) this.#keys.put(draft.key, seq);
    if (draft.large) uploads.push(draft.large.name);
    return { outcome: 'appended', seq, time, salt };
  }

  #store(stamp: Stamp, draft: PackedDraft, body: Uint8Array): void {
    const head = Buffer.from(entryHead(stamp));
    const key = draft.key === undefined ? null : keyColumn(draft.key);
    const link = linkOf(this.#link, head, body, linkedKey(key));
    let text: Buffer;
    if (draft.large) text = draft.large.size > 1 ? Buffer.concat([head, COMMA]) : head;
    else if (draft.body.length === 0) text = Buffer.concat([head, BRACE]);
    else text = Buffer.concat([head, COMMA, draft.body, BRACE]);
    this.#insert.run(
      stamp.seq,
      stamp.time,
      stamp.kind,
      stamp.room,
      head.length,
      text.length + (draft.large?.size ?? 0),
      draft.large?.name ?? null,
      draft.large?.marked === true ? 1 : 0,
      link,
      draft.facets,
      text,
      key,
    );
    this.#seq = stamp.seq;
    this.#time = stamp.time;
    this.#link = link;
  }

  #existing(seq: number, outcome: Outcome): WriteResult {
    const row = this.#stampOf.get(seq);
    const id = Buffer.from(row?.['id'] as Uint8Array).toString();
    const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
    return { outcome, seq, time: row?.['time'] as number, salt };
  }

  /**
   * Keeps the connection: its next commit overwrites what the failed one left in the WAL. A new
   * connection would take that for committed, although it was never flushed.
   */
  #fail(error: unknown, drafts: readonly PackedDraft[]): WriteResult[] {
    this.#failed(error);
    this.#unconfirmedUploads.push(...largeNames(drafts));
    this.#lastIsLoaded = false;
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#saveLostWal();
      this.#loadLast();
    } catch (rollbackError) {
      // The next attempt fails in the same way.
      assertStorageFault(rollbackError);
    }
    const full = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
    const outcome: Outcome = full ? 'out-of-space' : 'unavailable';
    return drafts.map(() => ({ outcome, seq: 0, time: 0, salt: 0 }));
  }

  /** Removes the files of an upload where no entry needs them. */
  #finishUpload(name: string): void {
    try {
      const entry = this.#db.prepare('SELECT 1 FROM entries WHERE large = ?').get(name);
      if (entry === undefined) removeUpload(this.#paths, name);
      else finishUpload(this.#paths, name);
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
    const last = this.#db
      .prepare('SELECT seq, time, link FROM entries ORDER BY seq DESC LIMIT 1')
      .get();
    this.#seq = (last?.['seq'] as number | undefined) ?? 0;
    this.#time = (last?.['time'] as number | undefined) ?? 0;
    this.#link = (last?.['link'] as Uint8Array | undefined) ?? FIRST_LINK;
    this.#shared.head = this.#seq;
    this.#lastIsLoaded = true;
  }
}

function* largeNames(drafts: readonly PackedDraft[]): Generator<string> {
  for (const { large } of drafts) if (large !== undefined) yield large.name;
}
