/** Writes the index, in short steps. Each step is one commit. */
import type { DatabaseSync } from 'node:sqlite';

import { facet } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import { StorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, readable, removeDatabase, transact } from '../database.ts';
import { type EntryRow, metadataOf } from '../log/entry-row.ts';
import { RoomTally } from './counts.ts';
import { EntryWords, facetTokens, largeWords } from './entry-tokens.ts';
import {
  createIndex,
  createPart,
  openIndexForWriting,
  readState,
  Statements,
  tableOf,
} from './index-database.ts';
import { type FramedEntry, type FramedLog, FrameMaker } from './frames.ts';
import { anyFacet, SHOWN } from './match-query.ts';

/** Entries, and approximate bytes of text and facets, in a step. */
const STEP_ENTRIES = 2048;
const STEP_SIZE = 1024 * 1024;
const MERGE_PAGES = 64;
/** FTS5 changes fewer rows where there is nothing to merge. */
const MIN_MERGE_CHANGES = 2;
/** Ids that are looked up together. */
const MAX_IDS = 16;
/** Readers hold the WAL for less. */
const BUSY_TIMEOUT_MS = 100;

export interface IndexedLog extends FramedLog {
  readonly paths: DataPaths;
  readonly logId: string;
}

export class IndexWriter implements Disposable {
  readonly #source: IndexedLog;
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #words = new EntryWords();
  readonly #frames: FrameMaker;
  /** Parts that are full and merged. */
  #merged: number;
  #merging: Generator<void, void, undefined> | undefined;
  /** The newest case that is followed. */
  #known: number;
  position: Seq;

  constructor(source: IndexedLog, db: DatabaseSync) {
    this.#source = source;
    this.#db = db;
    this.#statements = new Statements(db);
    this.#frames = new FrameMaker(db, source);
    const { position = 0, merged = 0, known = 0 } = readState(db) ?? {};
    this.position = position;
    this.#merged = merged;
    this.#known = known;
  }

  /** Goes on with what is there if it is of this log. */
  static open(source: IndexedLog): IndexWriter {
    const { paths, shared, logId } = source;
    let db = openFitting(source);
    if (db === undefined) {
      removeDatabase(paths.index);
      db = openIndexForWriting(paths.index);
      createIndex(db, logId, shared.partSize);
    }
    return new IndexWriter(source, db);
  }

  /** Adds the next entries up to this one. */
  add(to: Seq): void {
    const { log, shared } = this.#source;
    const from = this.position + 1;
    const part = shared.partOf(from);
    const tally = new RoomTally();
    const added: FramedEntry[] = [];
    let last = Math.min(to, shared.lastOf(part), this.position + STEP_ENTRIES);
    transact(this.#db, () => {
      if (from === shared.firstOf(part)) createPart(this.#db, part);
      let size = 0;
      for (const row of log.rows({ from, to: last })) {
        tally.add(row);
        const { kind, seq, size: bytes, large, withheld } = row;
        added.push({ kind, seq, size: bytes, large });
        const whole = this.#whole(row);
        size += this.#insert(whole);
        if (withheld !== undefined) this.#leaveOut(seq, whole === row);
        if (size >= STEP_SIZE) last = row.seq;
        if (size >= STEP_SIZE) break;
      }
      const count = this.#statements.get(`INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET count = count + excluded.count, seq = excluded.seq, time = excluded.time`);
      for (const { kind, room, count: more, latest } of tally.counts())
        count.run(part, kind, room, more, latest.seq, latest.time);
      const link = readable(() => log.linkAt(last)) ?? null;
      this.#statements.get('UPDATE state SET position = ?, link = ?').run(last, link);
    });
    this.position = last;
    for (const entry of added) this.#frames.add(entry);
  }

  /** Makes a frame, or merges some of a full part. Returns whether there may be more to do. */
  work(): boolean {
    if (this.#frames.work()) return true;
    if (this.#merged >= this.#source.shared.partOf(this.position + 1)) return false;
    this.#merging ??= this.#mergeSteps(this.#merged);
    if (this.#merging.next().done === true) {
      this.#merging = undefined;
      this.#merged += 1;
      this.#statements.get('UPDATE state SET merged = ?').run(this.#merged);
    }
    return true;
  }

  /**
   * Takes over, in one transaction, which entries are left out by now: all text of hidden ones stays, and that of
   * withheld ones until `erase` is done.
   */
  followCases(): void {
    const { last, out, back } = this.#source.log.withheld.changesAfter(this.#known);
    if (last === this.#known) return;
    transact(this.#db, () => {
      const shown = this.#indexed(out, 'isErased IS NULL');
      const erased = this.#indexed(back, 'isErased = 1');
      const hidden = [...this.#indexed(back, 'isErased = 0'), ...erased];
      this.#statements
        .get('INSERT INTO left_out SELECT value, 0 FROM json_each(?)')
        .run(JSON.stringify(shown));
      this.#statements
        .get('DELETE FROM left_out WHERE seq IN (SELECT value FROM json_each(?))')
        .run(JSON.stringify(hidden));
      for (const seq of erased) this.#indexAgain(seq);
      this.#count(shown, -1);
      this.#count(hidden, 1);
      this.#statements.get('UPDATE state SET known = ?').run(last);
    });
    this.#known = last;
  }

  /**
   * Removes the words and facets of withheld entries, and what answers have of them: a facet of an answer names the
   * author of what it answers. Afterwards, no file has anything of them that is not in the log any more.
   */
  *erase(seqs: readonly Seq[]): Generator<void, void, undefined> {
    const own = seqs.filter((seq) => seq <= this.position).toSorted((a, b) => a - b);
    if (own.length === 0) return;
    const answers = yield* this.#answersTo(own);
    const parts = new Set<number>();
    const sorted = [...new Set([...own, ...answers])].toSorted((a, b) => a - b);
    const isOwn = new Set(own);
    transact(this.#db, () => this.#frames.removeWith(own));
    for (let at = 0; at < sorted.length;) {
      yield;
      transact(this.#db, () => {
        for (let size = 0; at < sorted.length && size < STEP_SIZE; at += 1) {
          const seq = sorted[at] ?? 0;
          parts.add(this.#source.shared.partOf(seq));
          size += this.#indexAgain(seq) + STEP_SIZE / STEP_ENTRIES;
          if (isOwn.has(seq)) this.#leaveOut(seq, true);
        }
      });
    }
    // Until their tables are merged, what was deleted is still there.
    for (const part of parts) yield* this.#mergeSteps(part);
    this.#db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const busy = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
    this.#db.exec('PRAGMA busy_timeout = 5000');
    if (busy !== 0) throw new StorageFault('The WAL of the index is being read.');
  }

  /** Makes a frame again that does not fit what is shown now. */
  renewFrame(number: number): void {
    this.#frames.renew(number);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** Returns about how many bytes it has read. */
  #insert(row: EntryRow): number {
    const { log, shared } = this.#source;
    const facets = Buffer.concat([row.facets, log.answered.derived(row, true)]);
    const table = tableOf(shared.partOf(row.seq));
    const insert = this.#statements.get(
      `INSERT INTO ${table} (rowid, words, facets) VALUES (?, ?, ?)`,
    );
    insert.run(row.seq, this.#wordsOf(row), facetTokens(facets));
    return Math.min(row.size, STEP_SIZE) + facets.length;
  }

  #wordsOf(row: EntryRow): string | Uint8Array {
    if (row.withheld !== undefined) return '';
    return row.large === undefined
      ? this.#words.read(row)
      : largeWords(this.#source.paths, row.large);
  }

  /** With the text of a hidden entry: it may be shown again. */
  #whole(row: EntryRow): EntryRow {
    if (row.withheld?.state !== 'hidden') return row;
    return readable(() => this.#source.log.unerased(row.seq)) ?? row;
  }

  #leaveOut(seq: Seq, isErased: boolean): void {
    this.#statements
      .get('INSERT OR REPLACE INTO left_out VALUES (?, ?)')
      .run(seq, Number(isErased));
  }

  /** Returns about how many bytes it has read. */
  #indexAgain(seq: Seq): number {
    const table = tableOf(this.#source.shared.partOf(seq));
    const remove = this.#statements.get(`DELETE FROM ${table} WHERE rowid = CAST(? AS INTEGER)`);
    // The last row id that it reports is no number of JavaScript.
    remove.setReadBigInts(true);
    remove.run(seq);
    const row = readable(() => this.#source.log.entry(seq));
    return row === undefined ? 0 : this.#insert(this.#whole(row));
  }

  /** Those of these entries that are in the index and meet the condition on their row of `left_out`. */
  #indexed(seqs: readonly Seq[], condition: string): Seq[] {
    const find = `SELECT json_group_array(value) AS seqs FROM json_each(?)
      LEFT JOIN left_out ON left_out.seq = value WHERE value <= ? AND ${condition}`;
    const found = this.#statements.get(find).get(JSON.stringify(seqs), this.position);
    return JSON.parse(String(found?.['seqs'])) as Seq[];
  }

  /** Adds them to the counts of their rooms, or takes them away. */
  #count(seqs: readonly Seq[], sign: number): void {
    const { log, shared } = this.#source;
    const where = 'part = ? AND kind = ? AND room = ?';
    for (const { kind, room, part, count } of log.roomsOf(seqs, shared.partSize)) {
      const table = tableOf(part);
      const find = `SELECT rowid AS seq FROM ${table} WHERE ${table} MATCH ? AND ${SHOWN}
        ORDER BY rowid DESC LIMIT 1`;
      const both = [facet('kind', kind), facet('room', room)].map((one) => anyFacet([one]));
      const newest = this.#statements.get(find).get(both.join(' AND '))?.['seq'];
      const latest = newest === undefined ? undefined : readable(() => log.entry(Number(newest)));
      const counted = this.#statements.get(`SELECT count FROM counts WHERE ${where}`);
      const sum = Number(counted.get(part, kind, room)?.['count'] ?? 0) + sign * count;
      this.#statements.get(`DELETE FROM counts WHERE ${where}`).run(part, kind, room);
      if (latest !== undefined)
        this.#statements
          .get('INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?)')
          .run(part, kind, room, sum, latest.seq, latest.time);
    }
  }

  *#answersTo(seqs: readonly Seq[]): Generator<void, Seq[], undefined> {
    const { shared, log } = this.#source;
    const answers: Seq[] = [];
    for (let at = 0; at < seqs.length; at += MAX_IDS) {
      const some = seqs.slice(at, at + MAX_IDS);
      const rows = some.flatMap((seq) => readable(() => log.stored(seq)) ?? []);
      const query = anyFacet(rows.map((row) => facet('inReplyTo', metadataOf(row).id)));
      const last = rows.length === 0 ? -1 : shared.partOf(this.position);
      for (let part = shared.partOf(Math.min(...some)); part <= last; part += 1) {
        const table = tableOf(part);
        const find = this.#statements.get(
          `SELECT rowid AS seq FROM ${table} WHERE ${table} MATCH ?`,
        );
        answers.push(...find.all(query).map(({ seq }) => Number(seq)));
      }
      yield;
    }
    return answers;
  }

  *#mergeSteps(part: number): Generator<void, void, undefined> {
    const table = tableOf(part);
    const merge = this.#statements.get(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ?)`);
    // A negative number begins to merge everything.
    for (let pages = -MERGE_PAGES; ; pages = MERGE_PAGES) {
      const before = this.#totalChanges();
      merge.run(pages);
      if (this.#totalChanges() - before < MIN_MERGE_CHANGES) return;
      yield;
    }
  }

  #totalChanges(): number {
    return Number(this.#statements.get('SELECT total_changes() AS changes').get()?.['changes']);
  }
}

/** Undefined if there is none, or one of another log. */
function openFitting({ paths, shared, log, logId }: IndexedLog): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = openIndexForWriting(paths.index);
    const state = readState(db);
    if (
      state?.log === logId &&
      state.partSize === shared.partSize &&
      state.position <= shared.head &&
      state.known <= shared.withheldInLog &&
      (state.link === null || readable(() => log.linkAt(state.position)) === state.link)
    )
      return db;
  } catch (error) {
    if (!isSpoiled(error)) throw error;
  }
  db?.close();
  return undefined;
}
