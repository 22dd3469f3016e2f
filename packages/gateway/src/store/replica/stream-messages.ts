/**
 * Which messages of its stream made the entries of a copy of a cluster, and which of them have to be
 * erased there, because an entry is withheld or they made none. Its tables are in the log of a copy
 * alone, and are written in the transaction that applies a message.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import type { ErasedMessages, Erasure, UnusedUpload } from '../../log/replica.ts';
import type { WriteResult } from '../../log/packed-drafts.ts';
import { type WithheldLookup, withheldLookup } from '../withholding/withheld-table.ts';

// A message whose drafts made entries: `first` is the seq of the first of them.
// A draft that made none: `seq` is the entry that had its idempotency key, or 0, and `first` as above.
// An upload that no draft gets any more: it stays in the table when its chunks are erased.
const TABLES = `
  CREATE TABLE IF NOT EXISTS stream_messages (
    first INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS stream_repeats (
    position INTEGER NOT NULL, draft INTEGER NOT NULL, seq INTEGER NOT NULL, first INTEGER NOT NULL,
    PRIMARY KEY (position, draft)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS stream_repeats_seq ON stream_repeats (seq);
  CREATE TABLE IF NOT EXISTS stream_erasures (
    number INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER NOT NULL, first INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS stream_unused_uploads (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, isErased INTEGER NOT NULL)
    STRICT`;

const NAMES = ['stream_messages', 'stream_repeats', 'stream_erasures', 'stream_unused_uploads'];

/** Within the caller's transaction. */
export class StreamMessages {
  readonly #withheld: WithheldLookup;
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(db: DatabaseSync) {
    db.exec(TABLES);
    this.#withheld = withheldLookup(db);
    this.#sql = statementsOf(db);
  }

  /** `first`: the seq that the first entry of the message has, or would have. */
  applied(position: number, first: Seq, results: readonly WriteResult[]): void {
    let hasText = false;
    for (const [draft, { outcome, seq }] of results.entries()) {
      if (outcome === 'appended') continue;
      this.#sql.insertRepeat.run(position, draft, seq, first);
      hasText ||= this.#withheld(seq)?.state === 'withheld';
    }
    if (results.some(({ outcome }) => outcome === 'appended'))
      this.#sql.insert.run(first, position);
    if (hasText) this.#sql.insertErasure.run(position, first);
  }

  /** Records an upload that no draft uses. Each later chunk records it again. */
  unusedUpload(name: string): void {
    this.#sql.insertUpload.run(name);
  }

  /** A message whose drafts made nothing, since they were applied before or came too late. */
  unused(position: number): void {
    this.#sql.insertErasure.run(position, 0);
  }

  withheld(seq: Seq): void {
    const message = this.#sql.messageOf.get(seq);
    for (const row of [
      ...(message === undefined ? [] : [message]),
      ...this.#sql.repeatsOf.all(seq),
    ])
      this.#sql.insertErasure.run(Number(row['position']), Number(row['first']));
  }

  erased({ erasedMessages, erasedUploads }: ErasedMessages): void {
    for (const number of erasedMessages) this.#sql.remove.run(number);
    for (const number of erasedUploads) this.#sql.setErased.run(number);
  }
}

function statementsOf(db: DatabaseSync) {
  return {
    insert: db.prepare('INSERT INTO stream_messages VALUES (?, ?)'),
    insertRepeat: db.prepare('INSERT INTO stream_repeats VALUES (?, ?, ?, ?)'),
    insertErasure: db.prepare('INSERT INTO stream_erasures VALUES (NULL, ?, ?)'),
    messageOf: db.prepare(
      'SELECT first, position FROM stream_messages WHERE first <= ? ORDER BY first DESC LIMIT 1',
    ),
    repeatsOf: db.prepare('SELECT DISTINCT position, first FROM stream_repeats WHERE seq = ?'),
    remove: db.prepare('DELETE FROM stream_erasures WHERE number = ?'),
    insertUpload: db.prepare('INSERT OR REPLACE INTO stream_unused_uploads VALUES (NULL, ?, 0)'),
    setErased: db.prepare('UPDATE stream_unused_uploads SET isErased = 1 WHERE number = ?'),
  };
}

export function removeStreamMessages(db: DatabaseSync): void {
  for (const table of NAMES) db.exec(`DROP TABLE IF EXISTS ${table}`);
}

/** Whether the log is a copy that a stream fills. */
export function hasStreamMessages(db: DatabaseSync): boolean {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'stream_erasures'";
  return db.prepare(table).get() !== undefined;
}

/** What is to be erased after the one with this number, the oldest first. */
export function readErasures(db: DatabaseSync, after: number, limit: number): Erasure[] {
  if (!hasStreamMessages(db)) return [];
  const rows = db
    .prepare('SELECT * FROM stream_erasures WHERE number > ? ORDER BY number LIMIT ?')
    .all(after, limit);
  return rows.map((row) => ({
    number: Number(row['number']),
    position: Number(row['position']),
    first: Number(row['first']),
  }));
}

/** What is to be erased after the one with this number, the oldest first. */
export function readUnusedUploads(db: DatabaseSync, after: number, limit: number): UnusedUpload[] {
  if (!hasUnusedUploads(db)) return [];
  const rows = db
    .prepare(
      `SELECT number, name FROM stream_unused_uploads
         WHERE number > ? AND isErased = 0 ORDER BY number LIMIT ?`,
    )
    .all(after, limit);
  return rows.map(({ number, name }) => ({ number: Number(number), name: String(name) }));
}

export function* unusedUploadNames(db: DatabaseSync): Generator<string> {
  if (!hasUnusedUploads(db)) return;
  for (const { name } of db.prepare('SELECT name FROM stream_unused_uploads').iterate())
    yield String(name);
}

function hasUnusedUploads(db: DatabaseSync): boolean {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'stream_unused_uploads'";
  return db.prepare(table).get() !== undefined;
}

/** The drafts of a message that made no entry, each with the entry that has its key, or 0. */
export function readRepeats(db: DatabaseSync, position: number): ReadonlyMap<number, Seq> {
  const rows = db.prepare('SELECT draft, seq FROM stream_repeats WHERE position = ?').all(position);
  return new Map(rows.map(({ draft, seq }) => [Number(draft), Number(seq)]));
}
