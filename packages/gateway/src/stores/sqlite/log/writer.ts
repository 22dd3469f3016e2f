/**
 * The one writer of the log: gives each draft its seq, time, id and link, and commits all drafts
 * at hand in one transaction. What it reports as appended is flushed; when a commit fails, nothing
 * of it is reported and the next drafts take the same seqs.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { entryHead, entryId, SALTS, type Stamp } from '@open-presence/protocol';

import { type Outcome, type Packed } from './batch.ts';
import { digestOf, FIRST_LINK, linkOf } from './chain.ts';
import { discard, incomingNames, settle } from './large-files.ts';
import { flushWal, openLogForWriting, type DataPaths } from '../schema.ts';
import type { Shared } from '../shared.ts';

export interface Result {
  readonly outcome: Outcome;
  readonly seq: number;
  readonly time: number;
  readonly salt: number;
}

const COMMA = Buffer.from(',');
const BRACE = Buffer.from('}');
const SQLITE_FULL = 13;
/** Enough that a commit of small entries will find room as well. */
const PROBE = Buffer.alloc(256 * 1024);

export class Writer {
  readonly #places: DataPaths;
  readonly #shared: Shared;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #insert: StatementSync;
  readonly #findKey: StatementSync;
  readonly #addKey: StatementSync;
  readonly #stampOf: StatementSync;
  #seq = 0;
  #time = 0;
  #link: Uint8Array = FIRST_LINK;
  /** Whether nothing lies in the WAL that was not flushed by whoever wrote it. */
  #recovered = false;
  /** Whether seq, time and link are those of the last entry. */
  #recalled = false;
  /** Large bodies of commits that failed: whether they count is known after the next commit. */
  #doubtful: string[] = [];

  constructor(places: DataPaths, shared: Shared) {
    this.#places = places;
    this.#shared = shared;
    this.#db = openLogForWriting(places);
    this.#begin = this.#db.prepare('BEGIN IMMEDIATE');
    this.#end = this.#db.prepare('COMMIT');
    this.#insert = this.#db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#findKey = this.#db.prepare('SELECT content, seq FROM keys WHERE key = ?');
    this.#addKey = this.#db.prepare('INSERT INTO keys VALUES (?, ?, ?)');
    this.#stampOf = this.#db.prepare(
      'SELECT time, substr(text, 8, 36) AS id FROM entries WHERE seq = ?',
    );
    this.#recall();
    try {
      this.#recover();
    } catch {
      // The disk is full or fails: what is there can be read all the same.
      shared.writable = false;
    }
    rmSync(this.#probe, { force: true });
    for (const name of incomingNames(places)) this.#settle(name);
  }

  /** Stores the drafts in their order, in one commit. */
  commit(drafts: readonly Packed[]): Result[] {
    const results: Result[] = [];
    const larges: string[] = [];
    try {
      this.#recover();
      this.#begin.run();
      const now = Math.max(this.#time, Date.now());
      for (const draft of drafts) results.push(this.#append(draft, now, larges));
      this.#end.run();
    } catch (error) {
      return this.#fail(error, drafts);
    }
    this.#shared.head = this.#seq;
    for (const name of larges) this.#settle(name);
    this.#committed();
    return results;
  }

  /** Finds out whether storing works again, and says so in the shared state. */
  probe(): void {
    try {
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
    } catch {
      // Still read-only.
    }
  }

  close(): void {
    this.#db.close();
  }

  get #probe(): string {
    return join(this.#places.folder, 'probe');
  }

  /** Before anything is written: what came of the process before, or of a commit that failed. */
  #recover(): void {
    if (!this.#recovered) flushWal(this.#db);
    this.#recovered = true;
    if (!this.#recalled) this.#recall();
  }

  /** Once a commit went through, nothing of the failed ones before it can come back. */
  #committed(): void {
    this.#shared.writable = true;
    for (const name of this.#doubtful.splice(0)) this.#settle(name);
  }

  #append(draft: Packed, time: number, larges: string[]): Result {
    const body = draft.large ? Buffer.from(draft.large.digest, 'hex') : digestOf(draft.body);
    const content =
      draft.key && digestOf(Buffer.concat([Buffer.from(`${draft.kind} ${draft.room} `), body]));
    if (draft.key && content) {
      const known = this.#findKey.get(draft.key);
      if (known !== undefined) {
        if (draft.large) larges.push(draft.large.name);
        const same = Buffer.compare(content, known['content'] as Uint8Array) === 0;
        return this.#earlier(known['seq'] as number, same ? 'repeated' : 'conflict');
      }
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
    if (draft.key && content) this.#addKey.run(draft.key, content, seq);
    if (draft.large) larges.push(draft.large.name);
    return { outcome: 'appended', seq, time, salt };
  }

  #store(stamp: Stamp, draft: Packed, body: Uint8Array): void {
    const opening = Buffer.from(entryHead(stamp));
    const link = linkOf(this.#link, opening, body);
    let text: Buffer;
    if (draft.large) text = draft.large.size > 1 ? Buffer.concat([opening, COMMA]) : opening;
    else if (draft.body.length === 0) text = Buffer.concat([opening, BRACE]);
    else text = Buffer.concat([opening, COMMA, draft.body, BRACE]);
    this.#insert.run(
      stamp.seq,
      stamp.time,
      stamp.kind,
      stamp.room,
      opening.length,
      text.length + (draft.large?.size ?? 0),
      draft.large?.name ?? null,
      draft.large?.marked === true ? 1 : 0,
      link,
      draft.facets,
      text,
    );
    this.#seq = stamp.seq;
    this.#time = stamp.time;
    this.#link = link;
  }

  #earlier(seq: number, outcome: Outcome): Result {
    const row = this.#stampOf.get(seq);
    const id = Buffer.from(row?.['id'] as Uint8Array).toString();
    const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
    return { outcome, seq, time: row?.['time'] as number, salt };
  }

  /**
   * The connection is kept: it writes its next commit over what the failed one left in the WAL,
   * while a new connection would take that for committed although it was never flushed.
   */
  #fail(error: unknown, drafts: readonly Packed[]): Result[] {
    this.#shared.writable = false;
    for (const { large } of drafts) if (large) this.#doubtful.push(large.name);
    this.#recalled = false;
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#recall();
    } catch {
      // Whatever is broken shows again at the next attempt.
    }
    const full = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
    const outcome: Outcome = full ? 'out-of-space' : 'unavailable';
    return drafts.map(() => ({ outcome, seq: 0, time: 0, salt: 0 }));
  }

  /** After a commit, or when its key had an entry already: the file is in its place or gone. */
  #settle(name: string): void {
    try {
      const kept = this.#db.prepare('SELECT 1 FROM entries WHERE large = ?').get(name);
      if (kept === undefined) discard(this.#places, name);
      else settle(this.#places, name);
    } catch {
      // It can be read where it came in; the next commit tries again.
      this.#doubtful.push(name);
    }
  }

  #recall(): void {
    const last = this.#db
      .prepare('SELECT seq, time, link FROM entries ORDER BY seq DESC LIMIT 1')
      .get();
    this.#seq = (last?.['seq'] as number | undefined) ?? 0;
    this.#time = (last?.['time'] as number | undefined) ?? 0;
    this.#link = (last?.['link'] as Uint8Array | undefined) ?? FIRST_LINK;
    this.#shared.head = this.#seq;
    this.#recalled = true;
  }
}
