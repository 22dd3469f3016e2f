/**
 * The indexer: a reader of the log that keeps postings, runs and tallies. It never slows a commit
 * and owns nothing that cannot be made again: when it doubts what it has, it begins anew.
 */
import { rmSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet, FACET_SIZE, type Facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import { largeFacets } from '../log/large-files.ts';
import { Joiner } from './joiner.ts';
import { partOf, PART_SIZE, postingsIn, PostingsWriter } from './postings.ts';
import { hasItsRuns, removeRuns, RUN_JOINER, RUN_SIZE, RunsWriter } from './runs.ts';
import {
  indexFormat,
  INDEX_FORMAT,
  metaOf,
  openForReading,
  openIndexForWriting,
  type DataPaths,
} from '../schema.ts';
import type { Shared } from '../shared.ts';
import { KIND_OF_FACET, keyOf } from './tail.ts';

/** Entries of one transaction at most, and facets held at once. */
const BATCH_ENTRIES = 16_384;
/** Each has up to two kilobytes of facets. */
const ROWS_AT_ONCE = 128;
const MOST_FACETS = 2048;
/** Smaller runs are not worth a place in the file. */
const LEAST_RUN = 64 * 1024;

interface Pending {
  seqs: Seq[];
  size: number;
}

/** What is indexed of some rows, joined: a row at a time would cost several times as much. */
interface Rows {
  readonly facets: Uint8Array;
  /** JSON: of each row, the bytes of its facets. */
  readonly ends: string;
  /** JSON: of each row, the bytes of its text. */
  readonly sizes: string;
  /** JSON: seq and name of the large ones. */
  readonly larges: string;
}

interface Counted {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  readonly seq: Seq;
  readonly time: number;
}

export class Indexer {
  readonly #places: DataPaths;
  readonly #shared: Shared;
  readonly #log: DatabaseSync;
  readonly #db: DatabaseSync;
  readonly #rows: StatementSync;
  readonly #tallies: StatementSync;
  readonly #joined: Joiner;
  readonly #tally: StatementSync;
  readonly #progress: StatementSync;
  readonly #postings: PostingsWriter;
  readonly #runs: RunsWriter;
  #pending = new Map<Kind, Pending>();
  #held = new Map<string, Seq[]>();
  /** The one that is being written. */
  readonly #facet = Buffer.allocUnsafeSlow(FACET_SIZE);

  constructor(places: DataPaths, shared: Shared) {
    this.#places = places;
    this.#shared = shared;
    this.#log = openForReading(places.log);
    this.#db = openMatching(this.#log, places, shared.head);
    this.#rows = this.#log.prepare(
      `SELECT CAST(group_concat(facets, '') AS BLOB) AS facets,
         json_group_array(length(facets)) AS ends, json_group_array(size) AS sizes,
         json_group_array(json_array(seq, large)) FILTER (WHERE large IS NOT NULL) AS larges
       FROM (SELECT * FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT -1)`,
    );
    this.#tallies = this.#log.prepare(
      `SELECT room, kind, count(*) AS count, max(seq) AS seq, max(time) AS time
       FROM entries WHERE seq > ? AND seq <= ? GROUP BY room, kind`,
    );
    this.#joined = new Joiner(this.#log, 'newest', RUN_JOINER);
    this.#tally = this.#db.prepare(
      `INSERT INTO tallies VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET count = count + excluded.count, seq = excluded.seq, time = excluded.time`,
    );
    this.#progress = this.#db.prepare("INSERT OR REPLACE INTO meta VALUES ('indexed', ?)");
    this.#postings = new PostingsWriter(this.#db);
    this.#runs = new RunsWriter(this.#db, places);
    shared.indexed = indexedIn(this.#db);
    this.#recallPending();
  }

  /** Whether more than one step is waiting. */
  isFarBehind(): boolean {
    return this.#shared.head - this.#shared.indexed >= BATCH_ENTRIES;
  }

  /** Indexes the next entries, if there are any. Throws on a failing disk. */
  step(): void {
    const from = this.#shared.indexed;
    const partEnd = (partOf(from + 1) + 1) * PART_SIZE - 1;
    const to = Math.min(this.#shared.head, from + BATCH_ENTRIES, partEnd);
    if (to === from) return;
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      this.#index(from, to);
      this.#progress.run(to);
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#held.clear();
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#recallPending();
      throw error;
    }
    this.#shared.indexed = to;
  }

  close(): void {
    this.#runs.close();
    this.#db.close();
    this.#log.close();
  }

  #index(from: Seq, to: Seq): void {
    for (let at = from; at < to; at += ROWS_AT_ONCE) {
      const rows = this.#rows.get(at, Math.min(to, at + ROWS_AT_ONCE)) as unknown as Rows;
      this.#take(at + 1, rows);
    }
    this.#release();
    for (const row of this.#tallies.all(from, to)) {
      const { room, kind, count, seq, time } = row as unknown as Counted;
      this.#tally.run(room, kind, count, seq, time);
    }
  }

  /** Takes rows without a gap between their seqs, the first being `first`. */
  #take(first: Seq, rows: Rows): void {
    const { buffer, byteOffset, length } = rows.facets;
    const facets = Buffer.from(buffer, byteOffset, length);
    const sizes = JSON.parse(rows.sizes) as number[];
    const larges = new Map(JSON.parse(rows.larges) as [Seq, string][]);
    let at = 0;
    for (const [index, facetsSize] of (JSON.parse(rows.ends) as number[]).entries()) {
      const seq = first + index;
      const kind = KIND_OF_FACET.get(keyOf(facets, at));
      this.#hold(seq, facets, at, (at += facetsSize));
      const large = larges.get(seq);
      if (large !== undefined) {
        for (const more of largeFacets(this.#places, large)) {
          this.#hold(seq, Buffer.from(more), 0, more.length);
        }
      }
      if (kind !== undefined) this.#gather(kind, seq, sizes[index] ?? 0, large !== undefined);
    }
  }

  #hold(seq: Seq, facets: Buffer, from: number, to: number): void {
    for (let at = from; at < to; at += FACET_SIZE) {
      const key = keyOf(facets, at);
      const seqs = this.#held.get(key);
      if (seqs === undefined) this.#held.set(key, [seq]);
      else if (seqs.at(-1) !== seq) seqs.push(seq);
      if (this.#held.size >= MOST_FACETS) this.#release();
    }
  }

  /** In the order of the facets: neighbours in the database are written together. */
  #release(): void {
    const keys = [...this.#held.keys()].toSorted();
    for (const key of keys) {
      const seqs = this.#held.get(key) ?? [];
      this.#facet.write(key, 'latin1');
      this.#postings.add(partOf(seqs[0] ?? 0), this.#facet, seqs);
    }
    this.#held.clear();
  }

  #gather(kind: Kind, seq: Seq, size: number, large: boolean): void {
    const pending = this.#pending.get(kind);
    if (pending === undefined) return;
    if (!large) {
      pending.seqs.push(seq);
      pending.size += size;
    }
    if (pending.size >= RUN_SIZE || large) this.#run(kind, pending);
  }

  #run(kind: Kind, pending: Pending): void {
    const { seqs, size } = pending;
    this.#pending.set(kind, { seqs: [], size: 0 });
    if (size < LEAST_RUN) return;
    const { joined } = this.#joined.join(seqs.toReversed());
    const [first = 0] = seqs;
    this.#runs.add(kind, { first, last: seqs.at(-1) ?? first, count: seqs.length }, joined);
  }

  /** What is indexed but in no run yet: at most about one run of each kind. */
  #recallPending(): void {
    const last = this.#db.prepare('SELECT coalesce(max(last), 0) AS seq FROM runs WHERE kind = ?');
    const row = this.#log.prepare('SELECT size, large FROM entries WHERE seq = ?');
    for (const kind of KINDS) {
      const seqs: Seq[] = [];
      let size = 0;
      const end = last.get(kind)?.['seq'] as number;
      for (const seq of newestFirst(this.#db, facet('kind', kind), this.#shared.indexed, end + 1)) {
        const found = row.get(seq);
        if (found === undefined || found['large'] !== null || size >= RUN_SIZE) break;
        seqs.push(seq);
        size += found['size'] as number;
      }
      this.#pending.set(kind, { seqs: seqs.toReversed(), size });
    }
  }
}

function* newestFirst(db: DatabaseSync, what: Facet, from: Seq, until: Seq): Generator<Seq> {
  const cursor = postingsIn(db, 'newest')(what);
  for (let at = from; ;) {
    const sought = cursor.seek(at, until, Number.POSITIVE_INFINITY);
    if (sought === 'none' || !('seq' in sought)) return;
    yield sought.seq;
    at = sought.seq - 1;
  }
}

/** The index of this very log, in the present format, or an empty one. */
function openMatching(log: DatabaseSync, places: DataPaths, head: Seq): DatabaseSync {
  const name = metaOf(log, 'name') ?? '';
  const db = openOrUndefined(places);
  if (db !== undefined) {
    const matches = indexFormat(db) === INDEX_FORMAT && metaOf(db, 'log') === name;
    if (matches && indexedIn(db) <= head && hasItsRuns(db, places)) return db;
    db.close();
  }
  for (const end of ['', '-wal', '-shm']) rmSync(places.index + end, { force: true });
  removeRuns(places);
  const fresh = openIndexForWriting(places);
  fresh.prepare("INSERT INTO meta VALUES ('log', ?)").run(name);
  return fresh;
}

function openOrUndefined(places: DataPaths): DatabaseSync | undefined {
  try {
    return openIndexForWriting(places);
  } catch {
    return undefined;
  }
}

function indexedIn(db: DatabaseSync): Seq {
  const seq = metaOf(db, 'indexed');
  return typeof seq === 'number' ? seq : 0;
}
