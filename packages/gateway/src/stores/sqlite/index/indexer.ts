/**
 * Reads the log and writes posting lists, runs and room counts. Never slows a commit, and owns
 * nothing that cannot be rebuilt from the log.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { FACET_SIZE } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import {
  type OnSpoiled,
  openForReading,
  PositionWriter,
  readMeta,
  readMetaSeq,
} from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeFacets } from '../log/large-files.ts';
import { readSpans, type SeqSpan } from '../log/readable-ranges.ts';
import type { SharedState } from '../shared-state.ts';
import { openIndex } from './index-database.ts';
import { readScrubProgress, type ScrubProgress } from '../damage/scrub-progress.ts';
import {
  facetKey,
  KIND_BY_FACET_KEY,
  partOf,
  partHolds,
  PART_SIZE,
  PostingsWriter,
  SpoiledIndex,
} from './postings.ts';
import { COUNT_ENTRIES, countRows, TalliesWriter } from './room-counter.ts';
import { RunsWriter } from './runs-writer.ts';

/** Maximum number of entries per transaction. */
const BATCH_ENTRIES = 16_384;
/** Rows read in one query; each has up to two kilobytes of facets. */
const ROWS_PER_QUERY = 128;
/** Maximum number of facets in memory. */
const MAX_FACETS = 2048;

/** Columns of several rows, joined: reading a row at a time would cost several times as much. */
interface JoinedRows {
  readonly facets: Uint8Array;
  /** JSON: for each row, the bytes of its facets. */
  readonly facetsSizes: string;
  /** JSON: for each row, the bytes of its text. */
  readonly sizes: string;
  /** JSON: seq and file name of the large entries. */
  readonly larges: string;
}

export class Indexer {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #log: DatabaseSync;
  readonly #index: DatabaseSync;
  readonly #rows: StatementSync;
  readonly #counts: StatementSync;
  readonly #tallies: TalliesWriter;
  readonly #position: PositionWriter;
  readonly #postings: PostingsWriter;
  readonly #runs: RunsWriter;
  readonly #storeScrub: StatementSync;
  /** The next part to be checked in the background, and the run that was checked last. */
  #scrubbedPart = 0;
  #scrubbedRun: Seq = 0;
  /** Postings by facet that are not in the database yet. */
  readonly #pending = new Map<string, Seq[]>();
  /** Reused for the facet that is being written. */
  readonly #facet = Buffer.allocUnsafeSlow(FACET_SIZE);

  constructor(paths: DataPaths, shared: SharedState, onSpoiled: OnSpoiled) {
    this.#paths = paths;
    this.#shared = shared;
    this.#log = openForReading(paths.log);
    const logId = String(readMeta(this.#log, 'name') ?? '');
    this.#index = openIndex(paths, logId, shared.head, onSpoiled);
    this.#rows = this.#log.prepare(
      `SELECT count(*) AS count, CAST(group_concat(facets, '') AS BLOB) AS facets,
         json_group_array(length(facets)) AS facetsSizes, json_group_array(size) AS sizes,
         json_group_array(json_array(seq, large)) FILTER (WHERE large IS NOT NULL) AS larges
       FROM (SELECT * FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT -1)`,
    );
    this.#counts = this.#log.prepare(COUNT_ENTRIES);
    this.#tallies = new TalliesWriter(this.#index);
    this.#position = new PositionWriter(this.#index, this.#log, 'indexed');
    this.#postings = new PostingsWriter(this.#index);
    this.#runs = new RunsWriter(this.#log, this.#index, paths);
    this.#storeScrub = this.#index.prepare(
      "INSERT OR REPLACE INTO meta VALUES ('scrubbed', ?), ('scrubCompleted', ?)",
    );
    const indexed = readMetaSeq(this.#index, 'indexed');
    shared.indexChecked = indexed + 1;
    shared.indexed = indexed;
    this.#runs.restore(shared.indexed);
  }

  /** How far the background has verified the log, as it was stored. */
  storedScrub(): ScrubProgress | undefined {
    return readScrubProgress(this.#index);
  }

  /** Throws on a disk error. */
  storeScrub({ at, completed }: ScrubProgress): void {
    this.#storeScrub.run(at, completed);
  }

  /** Whether more than one batch is waiting. */
  isFarBehind(): boolean {
    return this.#shared.head - this.#shared.indexed >= BATCH_ENTRIES;
  }

  /** Indexes the next batch of entries, if there are any. Throws on a disk error. */
  step(): void {
    const from = this.#shared.indexed;
    const partEnd = (partOf(from + 1) + 1) * PART_SIZE - 1;
    const to = Math.min(this.#shared.head, from + BATCH_ENTRIES, partEnd);
    if (to === from) return;
    this.#index.exec('BEGIN IMMEDIATE');
    try {
      this.#indexRange(from, to);
      this.#position.write(to);
      this.#index.exec('COMMIT');
    } catch (error) {
      this.#pending.clear();
      this.#postings.reset();
      if (this.#index.isTransaction) this.#index.exec('ROLLBACK');
      this.#runs.restore(from);
      throw error;
    }
    this.#shared.indexed = to;
  }

  /**
   * Checks the part of the index before those that were checked since the start, from which on it is
   * used. Returns whether there are more. Throws `SpoiledIndex`.
   */
  checkNextPart(): boolean {
    const { indexChecked } = this.#shared;
    if (indexChecked <= 1) return false;
    const part = partOf(indexChecked - 1);
    if (!partHolds(this.#index, part)) throw changedPart(part);
    this.#shared.indexChecked = Math.max(1, part * PART_SIZE);
    return part > 0;
  }

  /**
   * Checks the next part of the index and the next run, as they are on the disk. Throws `SpoiledIndex`.
   */
  scrub(): void {
    const { indexed, spoiledRun } = this.#shared;
    const db = openForReading(this.#paths.index, 256);
    try {
      const part = this.#scrubbedPart;
      this.#scrubbedPart = partOf(indexed) > part ? part + 1 : 0;
      if (!partHolds(db, part)) throw changedPart(part);
    } finally {
      db.close();
    }
    const last = this.#runs.next(this.#scrubbedRun);
    this.#scrubbedRun = last ?? 0;
    if (last !== undefined && spoiledRun === 0) this.#shared.spoiledRun = last;
  }

  /** Makes the spoiled run again that a reader has found, if there is one. Returns whether there was. */
  repairRun(): boolean {
    const last = this.#shared.spoiledRun;
    if (last === 0) return false;
    const wasSpoiled = this.#runs.repair(last);
    this.#shared.spoiledRun = 0;
    return wasSpoiled;
  }

  close(): void {
    this.#runs.close();
    this.#index.close();
    this.#log.close();
  }

  /** `from` is exclusive, `to` inclusive; both are in one part. */
  #indexRange(from: Seq, to: Seq): void {
    for (let at = from; at < to; at += ROWS_PER_QUERY) {
      const span = { from: at + 1, to: Math.min(to, at + ROWS_PER_QUERY) };
      for (const { span: read, rows } of readSpans(span, (part) => this.#readRows(part)))
        this.#addRows(read.from, rows);
    }
    this.#writePostings();
    this.#postings.flush();
    this.#tallies.add(countRows(this.#counts, from, to), to);
  }

  /** Undefined if some of the rows are missing. */
  #readRows({ from, to }: SeqSpan): JoinedRows | undefined {
    const rows = this.#rows.get(from - 1, to) as unknown as JoinedRows & { readonly count: number };
    return rows.count === to - from + 1 ? rows : undefined;
  }

  /** `rows`: consecutive seqs, from `first` on. */
  #addRows(first: Seq, rows: JoinedRows): void {
    const { buffer, byteOffset, length } = rows.facets;
    const facets = Buffer.from(buffer, byteOffset, length);
    const sizes = JSON.parse(rows.sizes) as number[];
    const larges = new Map(JSON.parse(rows.larges) as [Seq, string][]);
    let at = 0;
    for (const [index, facetsSize] of (JSON.parse(rows.facetsSizes) as number[]).entries()) {
      const seq = first + index;
      const kind = KIND_BY_FACET_KEY.get(facetKey(facets, at));
      this.#addPostings(seq, facets.subarray(at, (at += facetsSize)));
      const large = larges.get(seq);
      if (large !== undefined) {
        for (const chunk of largeFacets(this.#paths, large)) {
          this.#addPostings(seq, Buffer.from(chunk));
        }
      }
      if (kind !== undefined) this.#runs.add(kind, seq, sizes[index] ?? 0, large !== undefined);
    }
  }

  #addPostings(seq: Seq, facets: Buffer): void {
    for (let at = 0; at < facets.length; at += FACET_SIZE) {
      const key = facetKey(facets, at);
      const seqs = this.#pending.get(key);
      if (seqs === undefined) this.#pending.set(key, [seq]);
      else if (seqs.at(-1) !== seq) seqs.push(seq);
      if (this.#pending.size >= MAX_FACETS) this.#writePostings();
    }
  }

  /** In the order of the facets, so that neighbours in the database are written together. */
  #writePostings(): void {
    for (const key of [...this.#pending.keys()].toSorted()) {
      const seqs = this.#pending.get(key) ?? [];
      this.#facet.write(key, 'latin1');
      this.#postings.add(partOf(seqs[0] ?? 0), this.#facet, seqs);
    }
    this.#pending.clear();
  }
}

function changedPart(part: number): SpoiledIndex {
  return new SpoiledIndex(`The index of the entries from ${part * PART_SIZE} on has changed.`);
}
