/** Writes the index of one segment from the log, in short steps. Each step is one commit. */
import { renameSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind } from '@open-presence/protocol';

import type { RoomCount, Seq } from '../../../log/log.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { makeSegmentFolder, type SegmentRecord } from '../segment-record.ts';
import { fingerprintOf } from '../shared-segments.ts';
import { EntryWords, facetTokens, largeWords } from './entry-tokens.ts';
import { RoomTally } from './room-counts.ts';
import { ChunkBounds } from './chunks/chunk-bounds.ts';
import { indexFile, openIndex } from './segment-database.ts';
import {
  flushFile,
  type SegmentsContext,
  SpoiledFile,
  statOf,
  writeRecord,
} from './segment-files.ts';

/** Entries, and approximate bytes of text and facets, in a step. */
const STEP_ENTRIES = 2048;
const STEP_SIZE = 1024 * 1024;
const MERGE_PAGES = 64;
/** FTS5 changes fewer rows where there is nothing to merge. */
const MIN_MERGE_CHANGES = 2;

export class SegmentWriter {
  readonly number: number;
  readonly first: Seq;
  readonly last: Seq;
  readonly #context: SegmentsContext;
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #ino: number;
  /** The fingerprint of the file after the last commit. */
  #fingerprint: number;
  readonly #insert: StatementSync;
  readonly #merge: StatementSync;
  readonly #count: StatementSync;
  readonly #putChunk: StatementSync;
  readonly #putAnswered: StatementSync;
  readonly #setState: StatementSync;
  readonly #words = new EntryWords();
  readonly #chunks = new ChunkBounds();
  #hasBegunToMerge = false;
  /** Whether readers can use it. */
  #isPublished = false;
  position: Seq;

  /** Goes on with what is there. */
  constructor(context: SegmentsContext, number: number) {
    const { paths, shared } = context;
    this.#context = context;
    this.number = number;
    this.first = shared.segments.firstOf(number);
    this.last = shared.segments.lastOf(number);
    this.#file = indexFile(paths, number);
    makeSegmentFolder(paths, number);
    const db = openIndex(this.#file);
    this.#db = db;
    const stats = statSync(this.#file);
    this.#ino = stats.ino;
    this.#fingerprint = fingerprintOf(stats);
    this.#insert = db.prepare('INSERT INTO texts (rowid, words, facets) VALUES (?, ?, ?)');
    this.#merge = db.prepare('INSERT INTO texts (texts, rank) VALUES (?, ?)');
    this.#count = db.prepare(`INSERT INTO counts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
      SET count = count + excluded.count, seq = excluded.seq, time = excluded.time`);
    this.#putAnswered = db.prepare('INSERT OR IGNORE INTO answered VALUES (?)');
    this.#putChunk = db.prepare('INSERT INTO chunks VALUES (?, ?, ?, ?, ?)');
    this.#setState = db.prepare('INSERT OR REPLACE INTO state VALUES (?, ?)');
    this.position = this.#state('position') ?? this.first - 1;
  }

  get isFull(): boolean {
    return this.position === this.last;
  }

  /** Adds the next entries up to this one. Returns what was counted. */
  step(to: Seq): readonly RoomCount[] {
    const tally = new RoomTally();
    this.#commit(() => {
      const end = Math.min(to, this.last, this.position + STEP_ENTRIES);
      this.position = this.#add(end, tally);
      for (const { room, kind, count, latest } of tally.counts())
        this.#count.run(room, kind, count, latest.seq, latest.time);
      this.#putChunks();
      this.#setState.run('position', this.position);
    });
    return tally.counts();
  }

  /** Called before the segment is sealed or closed: after that, chunks begin anew. */
  endChunks(): void {
    this.#chunks.endAll();
    this.#commit(() => this.#putChunks());
  }

  /**
   * Makes the full segment what it stays: merged as a whole, flushed, with its checksum. In steps. Readers use the
   * old file until the sealed one takes its place; before that, `close` is called.
   */
  async *seal(close: () => void): AsyncGenerator<void, SegmentRecord, undefined> {
    const { number, last } = this;
    const { segments } = this.#context.shared;
    this.endChunks();
    while (this.#mergeSome()) yield;
    const copy = `${this.#file}.new`;
    rmSync(copy, { force: true });
    this.#db.prepare('VACUUM INTO ?').run(copy);
    yield;
    flushFile(copy);
    const counts = this.counts();
    segments.withdraw(number);
    close();
    renameSync(copy, this.#file);
    segments.publish(number, fingerprintOf(statOf(this.#file)), 'sealed');
    return await writeRecord(this.#context, number, { last, counts, isSealed: true });
  }

  /** Merges some of the index. Returns whether there may be more to merge. */
  #mergeSome(): boolean {
    // A negative number begins to merge everything.
    const pages = this.#hasBegunToMerge ? MERGE_PAGES : -MERGE_PAGES;
    const before = this.#totalChanges();
    this.#commit(() => this.#merge.run('merge', pages));
    this.#hasBegunToMerge = true;
    return this.#totalChanges() - before >= MIN_MERGE_CHANGES;
  }

  counts(): RoomCount[] {
    const rows = this.#db.prepare('SELECT * FROM counts').all();
    return rows.map(({ room, kind, count, seq, time }) => ({
      room: String(room),
      kind: kind as Kind,
      count: Number(count),
      latest: { seq: Number(seq), time: Number(time) },
    }));
  }

  /** Lets readers use it, now and after each step. */
  publish(): void {
    this.#isPublished = true;
    this.#context.shared.segments.publish(this.number, this.#fingerprint);
  }

  close(): void {
    this.#db.close();
  }

  /** The file does not change before the end of the commit. */
  #commit(work: () => unknown): void {
    const { segments } = this.#context.shared;
    this.#assertSame(this.#fingerprint);
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      // Has FTS5 hand over what it holds, so that the commit itself is short.
      this.#db.exec('SAVEPOINT held; RELEASE held');
      if (this.#isPublished) segments.change(this.number);
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#assertSame();
      if (this.#isPublished) this.publish();
    }
  }

  /** Throws if the file is not the one that is open or, with a fingerprint, if somebody has changed it. */
  #assertSame(fingerprint?: number): void {
    const stats = statSync(this.#file);
    this.#fingerprint = fingerprintOf(stats);
    if (stats.ino !== this.#ino || (fingerprint !== undefined && fingerprint !== this.#fingerprint))
      throw new SpoiledFile(`"${this.#file}" was changed or replaced.`);
  }

  /** Adds entries until a step is full, and returns the last. */
  #add(to: Seq, tally: RoomTally): Seq {
    const before = this.position;
    let size = 0;
    const { log } = this.#context;
    for (const row of log.rows({ from: before + 1, to })) {
      const facets = this.#facetsOf(row);
      this.#insert.run(row.seq, this.#wordsOf(row), facetTokens(facets));
      tally.add(row);
      if (row.large === undefined) this.#chunks.add(row);
      else this.#chunks.addLarge(row);
      size += Math.min(row.size, STEP_SIZE) + facets.length;
      if (size >= STEP_SIZE) return row.seq;
    }
    return to;
  }

  #wordsOf(row: EntryRow): string | Uint8Array {
    if (row.withheld !== undefined) return '';
    if (row.large === undefined) return this.#words.read(row);
    return largeWords(this.#context.paths, row.large);
  }

  /** All of them, with those that only an index has. */
  #facetsOf(row: EntryRow): Buffer {
    const derived = this.#context.log.answered.derived(row);
    if (derived.answered !== undefined) this.#putAnswered.run(derived.answered);
    return derived.facets.length === 0 ? row.facets : Buffer.concat([row.facets, derived.facets]);
  }

  #putChunks(): void {
    for (const { kind, first, last, count, previous } of this.#chunks.takeEnded())
      this.#putChunk.run(kind, first, last, count, previous);
  }

  #totalChanges(): number {
    return Number(this.#db.prepare('SELECT total_changes() AS changes').get()?.['changes']);
  }

  #state(name: string): number | undefined {
    const row = this.#db.prepare('SELECT value FROM state WHERE name = ?').get(name);
    return row && Number(row['value']);
  }
}
