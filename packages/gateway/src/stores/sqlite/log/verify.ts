/**
 * Walks a log from its first entry to its last and tells every fault: what no longer is as it was
 * stored, and what is missing.
 *
 * Refuses to know the index, which is made again from the log, and changes nothing; beside a log
 * it may leave the empty files that SQLite reads a WAL with. Upholds that memory stays flat, and
 * that a gateway may run meanwhile: each page of entries is a reading of its own, up to the entry
 * that was the newest in the beginning.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';

import { entryHead, entryId, type Kind, SALTS, seqOfId } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import { digestOf, FIRST_LINK, linkOf } from './chain.ts';
import { largePieces } from './large-files.ts';
import { metaOf, openLogForReading, type DataPaths, dataPathsIn } from '../schema.ts';

export interface LogFault {
  /** Undefined where it cannot be said which entry it is of. */
  readonly seq: Seq | undefined;
  readonly description: string;
}

export type VerifyEvent =
  | ({ readonly type: 'fault' } & LogFault)
  /** So many entries and bytes were read, up to the seq `at` of `head`. */
  | {
      readonly type: 'progress';
      readonly entries: number;
      readonly bytes: number;
      readonly at: Seq;
      readonly head: Seq;
    };

export interface VerifyResult {
  /** The log's name. */
  readonly name: string;
  readonly entries: number;
  /** Bytes of their texts. */
  readonly bytes: number;
  readonly faults: number;
  /** The link of the last entry, in hex: who keeps it can tell later whether the log is the same. */
  readonly link: string;
}

const PAGE_ROWS = 64;
const PAGE_KEYS = 1024;
const COMMA = 0x2c;
const BRACE = 0x7d;
const LARGE_NAME = /^[\da-f-]{36}$/;
/** What a Date can hold. */
const LAST_TIME = 8.64e15;

/**
 * Yields faults as they are found, and after each page how far it has come. Throws when there is no
 * log in the folder that this program can read, and when aborted.
 */
export async function* verifyLog(
  folder: string,
  signal?: AbortSignal,
): AsyncGenerator<VerifyEvent, VerifyResult, undefined> {
  const places = dataPathsIn(folder);
  const db = openLogForReading(places);
  try {
    const walk = new Walk(places);
    const head = Number(
      db.prepare('SELECT coalesce(max(seq), 0) AS head FROM entries').get()?.['head'],
    );
    let faults = 0;
    for await (const event of verifyEvents(db, { walk, head, signal })) {
      if (event.type === 'fault') faults += 1;
      yield event;
    }
    const { entries, bytes } = walk;
    const link = Buffer.from(walk.link).toString('hex');
    return { name: String(metaOf(db, 'name')), entries, bytes, faults, link };
  } finally {
    db.close();
  }
}

interface Task {
  readonly walk: Walk;
  readonly head: Seq;
  readonly signal: AbortSignal | undefined;
}

async function* verifyEvents(db: DatabaseSync, task: Task): AsyncGenerator<VerifyEvent> {
  const { walk } = task;
  try {
    yield* faultsOfEntries(db, task);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const description = `cannot be read (${error.message}); neither it nor what comes after it was verified`;
    yield { type: 'fault', seq: walk.next, description };
  }
  try {
    yield* faultsOfKeys(db, task);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const description = `the idempotency keys cannot be read (${error.message})`;
    yield { type: 'fault', seq: undefined, description };
  }
}

function isDamage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

async function* faultsOfEntries(db: DatabaseSync, task: Task): AsyncGenerator<VerifyEvent> {
  const { walk, head, signal } = task;
  const page = db.prepare(
    'SELECT seq, time, kind, room, head, size, large, link, text FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  );
  // Whatever numbers someone has written there can be read.
  page.setReadBigInts(true);
  for (let at = Number.MIN_SAFE_INTEGER; ;) {
    const rows = page.all(at, head, PAGE_ROWS).map(rowOf);
    for (const row of rows) {
      for (const fault of await walk.step(row, signal)) yield { type: 'fault', ...fault };
      at = row.seq;
    }
    const { entries, bytes } = walk;
    yield { type: 'progress', entries, bytes, at: Math.max(at, 0), head };
    if (rows.length < PAGE_ROWS) return;
    await turn(undefined, { signal });
  }
}

async function* faultsOfKeys(db: DatabaseSync, { signal }: Task): AsyncGenerator<VerifyEvent> {
  const page = db.prepare(
    `SELECT key, k.seq AS seq, e.seq IS NULL AS lost FROM keys AS k LEFT JOIN entries AS e USING (seq)
     WHERE key > ? ORDER BY key LIMIT ?`,
  );
  page.setReadBigInts(true);
  for (let at: Uint8Array = Buffer.alloc(0); ;) {
    const rows = page.all(at, PAGE_KEYS);
    for (const { seq, lost } of rows) {
      if (lost !== 1n) continue;
      yield {
        type: 'fault',
        seq: Number(seq),
        description: 'has an idempotency key, but is not there',
      };
    }
    if (rows.length < PAGE_KEYS) return;
    at = rows.at(-1)?.['key'] as Uint8Array;
    await turn(undefined, { signal });
  }
}

interface Row {
  readonly seq: Seq;
  readonly time: number;
  readonly kind: Kind;
  readonly room: string;
  readonly head: number;
  readonly size: number;
  readonly large: string | null;
  readonly link: Uint8Array;
  readonly text: Buffer;
}

function rowOf(row: Record<string, unknown>): Row {
  const { buffer, byteOffset, length } = row['text'] as Uint8Array<ArrayBuffer>;
  return {
    seq: Number(row['seq']),
    time: Number(row['time']),
    kind: row['kind'] as Kind,
    room: row['room'] as string,
    head: Number(row['head']),
    size: Number(row['size']),
    large: row['large'] as string | null,
    link: row['link'] as Uint8Array,
    text: Buffer.from(buffer, byteOffset, length),
  };
}

/** The visitor's members as they are stored. */
interface Body {
  readonly digest: Uint8Array;
  /** Bytes of the whole entry. */
  readonly size: number;
  /** Whether what stands around them is what belongs there. */
  readonly framed: boolean;
}

/** Goes from entry to entry. */
class Walk {
  /** The seq that is to come. */
  next: Seq = 1;
  entries = 0;
  bytes = 0;
  link: Uint8Array = FIRST_LINK;
  /** What the next entry may be linked to: nothing where that cannot be known. */
  #before: readonly Uint8Array[] = [FIRST_LINK];
  #time = 0;
  readonly #places: DataPaths;

  constructor(places: DataPaths) {
    this.#places = places;
  }

  async step(row: Row, signal: AbortSignal | undefined): Promise<LogFault[]> {
    const { seq, text } = row;
    const faults: LogFault[] = [];
    if (seq > this.next) {
      faults.push({ seq: this.next, description: missing(this.next, seq - 1) });
      this.#before = [];
    }
    const own = ownOf(row);
    for (const description of this.#faultsOfOwn(row, own)) faults.push({ seq, description });
    const head = own ?? text.toString('latin1', 0, row.head);
    const body = await bodyOf(this.#places, row, { head: head.length, signal });
    const wrong = typeof body === 'string' ? body : this.#faultOfBody(row, head, body);
    if (wrong !== undefined) faults.push({ seq, description: wrong });
    if (typeof body === 'string') this.#before = [row.link];
    this.link = row.link;
    this.next = Math.max(seq + 1, 1);
    this.entries += 1;
    this.bytes += typeof body === 'string' ? row.size : body.size;
    return faults;
  }

  *#faultsOfOwn({ seq, time, head }: Row, own: string | undefined): Generator<string> {
    if (own === undefined) {
      yield 'has other own members in its text than in its columns';
      return;
    }
    if (seq < 1) yield 'has no place in a log';
    if (head !== own.length) yield `has own members of ${own.length} bytes, not ${head}`;
    if (time < this.#time) yield 'is of an earlier time than an entry before it';
    else this.#time = time;
  }

  #faultOfBody(row: Row, head: string, { digest, size, framed }: Body): string | undefined {
    const own = Buffer.from(head);
    const links = this.#before.map((before) => linkOf(before, own, digest));
    const holds = links.length === 0 || links.some((link) => Buffer.compare(link, row.link) === 0);
    // Where it was the link that changed, what follows is linked to the right one.
    this.#before = holds ? [row.link] : [row.link, ...links];
    if (size !== row.size) return `has ${size} bytes, not ${row.size}`;
    if (!framed) return 'has a text without the form of an entry';
    return holds ? undefined : 'is not what its link was made of: it has changed, or the link';
  }
}

function missing(first: Seq, last: Seq): string {
  return first === last ? 'is missing' : `is missing, and so are all up to ${last}`;
}

/** The own members that the columns give, where the text begins with them. */
function ownOf({ seq, time, kind, room, text }: Row): string | undefined {
  const id = text.toString('latin1', 7, 43);
  if (seqOfId(id) !== seq || time < 0 || time > LAST_TIME) return undefined;
  const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
  const own = entryHead({ id: entryId(time, seq, salt), seq, kind, room, time });
  return text.toString('latin1', 0, own.length) === own ? own : undefined;
}

interface Within {
  /** Bytes of the own members. */
  readonly head: number;
  readonly signal: AbortSignal | undefined;
}

/** The body, or why there is none. */
async function bodyOf(places: DataPaths, row: Row, within: Within): Promise<Body | string> {
  const { large, text } = row;
  const rest = text.subarray(within.head);
  if (large === null) {
    const body = rest.subarray(1, -1);
    const framed = rest.at(-1) === BRACE && (rest.length === 1 || isLed(rest, body.length));
    return { digest: digestOf(body), size: text.length, framed };
  }
  if (!LARGE_NAME.test(large)) return 'has no file';
  try {
    const { digest, size, last } = await readLarge(places, large, within.signal);
    const framed = last === BRACE && (rest.length === 1 ? isLed(rest, size - 1) : size === 1);
    return { digest, size: text.length + size, framed };
  } catch (error) {
    if (within.signal?.aborted === true || !(error instanceof Error)) throw error;
    const lost = 'code' in error && error.code === 'ENOENT';
    return lost ? 'has lost its file' : `has a file that cannot be read (${error.message})`;
  }
}

/** Whether a comma stands before a body that is not empty, and nothing else. */
function isLed(rest: Uint8Array, size: number): boolean {
  return rest[0] === COMMA && size > 0;
}

/** The digest of a file without its last byte, and that byte. */
async function readLarge(
  places: DataPaths,
  name: string,
  signal: AbortSignal | undefined,
): Promise<{ digest: Uint8Array; size: number; last: number | undefined }> {
  const hash = createHash('sha256');
  let held: Uint8Array = new Uint8Array(0);
  let size = 0;
  for await (const piece of largePieces(places, name)) {
    signal?.throwIfAborted();
    hash.update(held);
    held = Buffer.from(piece);
    size += piece.length;
  }
  hash.update(held.subarray(0, -1));
  return { digest: hash.digest(), size, last: held.at(-1) };
}
