/**
 * Brings a log of an older format forward: copies it into a new file, which takes the place of the old
 * one at once, when it is complete and flushed. Until then the old file stays as it is, so that a kill
 * at any point, or a full disk, costs nothing but the time: the next start begins again. Takes as much
 * space as the log has, for that time, and flat memory.
 *
 * Each entry gets a salt and a new link, since the chain of this format is made in another way. Its old
 * link is verified before. One that does not verify is copied as it is found, with a link that does not
 * verify either, so that `verify` and readers go on to report it. Entries that are missing or cannot be
 * read at all stay missing.
 *
 * Format 3 differs only in the table that finds the entries of idempotency keys, which is made again in
 * its place, in one transaction. Format 4 had no hashes of keys in place of the keys, and nothing else.
 * Up to format 5, there was no table of what was withheld. Up to format 6, no record said whether its entry
 * can stand beside others.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { entryHead, entryId, KINDS, type Kind, SALTS, seqOfId } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { isSpoiled, readMeta, readPragma, removeDatabase } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { flushFolder } from '../prepare-folder.ts';
import { BlockReader } from './block-reader.ts';
import { BlockWriter } from './block-writer.ts';
import { digestOf, FIRST_LINK, linkOf } from './chain.ts';
import { KEY_BUCKETS_TABLE, KeyBuckets } from './key-buckets.ts';
import { KEY_COLUMN_SIZE, keyColumn, keyIn } from './key-column.ts';
import { largeChunksSync } from './large-files.ts';
import {
  createLog,
  FIRST_FORMAT_OF_BLOCKS,
  flushWal,
  LOG_FORMAT,
  openAnyLogForWriting,
} from './log-database.ts';
import { markPortability } from './mark-portability.ts';
import { RandomSalts } from './salts.ts';
import { sha256 } from './sha256.ts';
import { WITHHELD_TABLE } from './withheld-table.ts';

/** Format 3 had a table with a row for each key. */
const FIRST_FORMAT_OF_BUCKETS = 4;
const FIRST_FORMAT_OF_WITHHOLDING = 6;
const COMMIT_ENTRIES = 4096;
const LARGE_NAME = /^[\da-f-]{36}$/;
/** What a Date can hold. */
const MAX_TIME = 8.64e15;
/** Format 2 had the SHA-256 of the first 48 bytes behind the keys that came from format 1. */
const CHECKED_KEY_SIZE = KEY_COLUMN_SIZE + 32;

/** From format 1, which had the keys in a table of their own, to 2. */
const KEYS_INTO_ENTRIES = `
  BEGIN IMMEDIATE;
  ALTER TABLE entries ADD COLUMN key BLOB;
  UPDATE entries SET key = checked_key(keys.key) FROM keys WHERE keys.seq = entries.seq;
  ALTER TABLE keys DROP COLUMN content;
  PRAGMA user_version = 2;
  COMMIT`;

/** A row of format 2. */
interface OldRow {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: string;
  readonly room: string;
  readonly head: number;
  readonly size: number;
  readonly large: string | null;
  readonly marked: number;
  readonly link: Uint8Array;
  readonly facets: Uint8Array;
  readonly text: Uint8Array;
  readonly key: Uint8Array | null;
}

/** Does nothing if there is no log, or one of this format. Throws where it cannot be written. */
export function migrateLog(paths: DataPaths): void {
  const unfinished = `${paths.log}-new`;
  removeDatabase(unfinished);
  if (!existsSync(paths.log)) return;
  const old = openAnyLogForWriting(paths);
  try {
    const version = readPragma(old, 'user_version');
    if (version === LOG_FORMAT) return;
    flushWal(old);
    if (version >= FIRST_FORMAT_OF_BLOCKS) {
      old.exec('BEGIN IMMEDIATE');
      if (version < FIRST_FORMAT_OF_BUCKETS) replaceKeyTable(old);
      if (version < FIRST_FORMAT_OF_WITHHOLDING) old.exec(WITHHELD_TABLE);
      markPortability(old, paths);
      old.exec(`PRAGMA user_version = ${LOG_FORMAT}; COMMIT`);
      return;
    }
    if (version === 1) {
      const random = new RandomSalts();
      old.function('checked_key', (key) => {
        const column = keyColumn(random.next(), key as Uint8Array);
        return Buffer.concat([column, sha256(column)]);
      });
      old.exec(KEYS_INTO_ENTRIES);
    }
    copyInto(unfinished, old, paths);
    // No file that the next start finds may know of commits that only the WAL has.
    flushWal(old);
  } finally {
    old.close();
  }
  replaceLog(paths, unfinished);
}

/** Within the caller's transaction. */
function replaceKeyTable(db: DatabaseSync): void {
  // Keys come in no order: most of millions would be read back from the WAL for each.
  db.exec('PRAGMA cache_size = -131072');
  db.exec(`DROP TABLE keys; ${KEY_BUCKETS_TABLE}`);
  const buckets = new KeyBuckets(db);
  buckets.create();
  const log = new BlockReader(db);
  for (const { seq, key } of log.rows({ from: 1, to: log.lastSeq() }))
    if (key !== undefined) buckets.add(keyIn(key), seq);
}

/** What is derived from the old log knows it by its links, and goes first. */
function replaceLog(paths: DataPaths, file: string): void {
  rmSync(paths.lastCommit, { force: true });
  removeDatabase(paths.index);
  removeDatabase(paths.search);
  rmSync(paths.runs, { recursive: true, force: true });
  flushFolder(paths.folder);
  for (const suffix of ['-wal', '-shm']) rmSync(paths.log + suffix, { force: true });
  renameSync(file, paths.log);
  flushFolder(paths.folder);
}

function copyInto(file: string, old: DatabaseSync, paths: DataPaths): void {
  const db = new DatabaseSync(file);
  try {
    // Flushed as a whole below; a copy that is not complete is not used.
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    createLog(db);
    db.prepare("UPDATE meta SET value = ? WHERE name = 'name'").run(readMeta(old, 'name') ?? '');
    const copier = new EntryCopier(db, paths);
    db.exec('BEGIN');
    for (const row of oldRows(old)) {
      copier.copy(row);
      if (row.seq % COMMIT_ENTRIES === 0) db.exec('COMMIT; BEGIN');
    }
    copier.flush();
    markPortability(db, paths);
    db.exec('COMMIT');
    db.exec('PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
  const handle = openSync(file, 'r+');
  fsyncSync(handle);
  closeSync(handle);
}

/** Ascending. Leaves out what is in spoiled pages. */
function* oldRows(old: DatabaseSync): Generator<OldRow> {
  const next = old.prepare('SELECT * FROM entries WHERE seq > ? ORDER BY seq');
  // So that any number that someone has written there can be read.
  next.setReadBigInts(true);
  const last = Number(old.prepare('SELECT max(seq) AS seq FROM entries').get()?.['seq'] ?? 0);
  for (let at = 0; at < last;) {
    try {
      for (const row of next.iterate(at)) {
        const numbers = Object.entries(row).filter(([, value]) => typeof value === 'bigint');
        Object.assign(row, Object.fromEntries(numbers.map(([name, n]) => [name, Number(n)])));
        at = row['seq'] as unknown as Seq;
        yield row as unknown as OldRow;
      }
      return;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      at += 1;
    }
  }
}

class EntryCopier {
  readonly #paths: DataPaths;
  readonly #blocks: BlockWriter;
  readonly #keys: KeyBuckets;
  readonly #random = new RandomSalts();
  #seq: Seq = 0;
  #link = FIRST_LINK;
  /** Possible old links of the entry before: as it was stored, and as it should have been. */
  #oldLinks: readonly Uint8Array[] = [FIRST_LINK];

  constructor(db: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#blocks = new BlockWriter(db);
    this.#keys = new KeyBuckets(db);
  }

  copy(row: OldRow): void {
    const { seq, time, facets, room, key: oldKey } = row;
    const text = Buffer.from(row.text);
    const head = text.subarray(0, Math.max(0, Math.min(row.head, text.length)));
    const body = this.#digestOf(row, text.subarray(head.length));
    const isIntact = this.#verify(row, head, body);
    const salt = this.#random.next();
    const key = oldKey === null ? undefined : Buffer.concat([oldKey.subarray(0)], KEY_COLUMN_SIZE);
    const link = isIntact
      ? linkOf(this.#link, { head, digest: digestOf(salt, body), keyHash: key && sha256(key) })
      : sha256(Buffer.concat([this.#link, row.link]));
    const file = { name: row.large ?? '', size: row.size - text.length };
    this.#blocks.add(seq, {
      time,
      kind: KINDS.find((kind) => kind === row.kind) ?? KINDS[0],
      room,
      head: head.length,
      large: LARGE_NAME.test(file.name) ? file : undefined,
      marked: row.marked === 1,
      link,
      salt,
      key,
      facets,
      text: [text],
    });
    if (key !== undefined) this.#keys.add(keyIn(key), seq);
    this.#link = link;
    this.#seq = seq;
  }

  flush(): void {
    this.#blocks.flush();
  }

  /** Whether the entry is what was stored. */
  #verify(row: OldRow, head: Uint8Array, body: Uint8Array): boolean {
    const { seq, key, link } = row;
    const links = this.#seq === seq - 1 ? this.#oldLinks : [];
    const isLinked = key !== null && key.length === KEY_COLUMN_SIZE;
    const parts = [head, body, ...(isLinked ? [sha256(key)] : [])];
    const expected = links.map((previous) => sha256(Buffer.concat([previous, ...parts])));
    const holds = links.length === 0 || expected.some((each) => equal(each, link));
    this.#oldLinks = holds ? [link] : [link, ...expected];
    return holds && isHead(row, head) && keyHolds(key);
  }

  /** `rest`: of the text, behind the head. Empty where the form of the entry has changed. */
  #digestOf({ large, size, text, head }: OldRow, rest: Buffer): Uint8Array {
    const hasForm = large === null ? isFramed(rest) && size === text.length : rest.length < 2;
    if (!hasForm || head + rest.length !== text.length) return new Uint8Array(0);
    if (large === null) return sha256(rest.subarray(1, -1));
    const hash = createHash('sha256');
    let read = 0;
    let last = Buffer.alloc(0);
    for (const chunk of largeChunksSync(this.#paths, large)) {
      if (chunk.length === 0) break;
      hash.update(last).update(chunk.subarray(0, -1));
      last = Buffer.from(chunk.subarray(-1));
      read += chunk.length;
    }
    return read === size - text.length ? hash.digest() : new Uint8Array(0);
  }
}

/** Whether it is a comma, members and a brace, or a brace alone. */
function isFramed(rest: Buffer): boolean {
  if (rest.at(-1) !== 0x7d) return false;
  return rest.length === 1 || (rest[0] === 0x2c && rest.length > 2);
}

/** Whether the text begins with the members that the columns have. */
function isHead({ seq, time, kind, room }: OldRow, head: Uint8Array): boolean {
  const text = Buffer.from(head).toString('latin1');
  const id = text.slice(7, 43);
  if (seqOfId(id) !== seq || !(time >= 0 && time <= MAX_TIME)) return false;
  const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
  const stamp = { id: entryId(time, seq, salt), seq, kind: kind as Kind, room, time };
  return text === entryHead(stamp);
}

function keyHolds(key: Uint8Array | null): boolean {
  if (key === null || key.length === KEY_COLUMN_SIZE) return true;
  const [column, checksum] = [key.subarray(0, KEY_COLUMN_SIZE), key.subarray(KEY_COLUMN_SIZE)];
  return key.length === CHECKED_KEY_SIZE && equal(sha256(column), checksum);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
