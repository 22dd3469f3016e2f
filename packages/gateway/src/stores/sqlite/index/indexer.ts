/**
 * Reads the log and writes posting lists, runs and room counts. Never slows a commit, and owns
 * nothing that cannot be rebuilt from the log.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind } from '@open-presence/protocol';

import { facet, FACET_SIZE } from '../../../log/facet.ts';
import type { Seq, StoredEncoding } from '../../../log/log.ts';
import { StorageFault } from '../../../storage-fault.ts';
import {
  type OnSpoiled,
  openForReading,
  PositionWriter,
  readMeta,
  readMetaSeq,
  readable,
} from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { BlockReader } from '../log/block-reader.ts';
import type { EntryRow, StoredEntry } from '../log/record.ts';
import { unerased } from '../log/withheld-table.ts';
import { largeFacets } from '../log/large-files.ts';
import type { SharedState } from '../shared-state.ts';
import { openIndex } from './index-database.ts';
import { readScrubProgress, type ScrubProgress } from '../damage/scrub-progress.ts';
import {
  facetKey,
  partOf,
  partHolds,
  PART_SIZE,
  PostingsWriter,
  SpoiledIndex,
} from './postings.ts';
import { RowCounter, TalliesWriter } from './room-counter.ts';
import { RunsEncoder, STORED_ENCODINGS } from './runs-encoder.ts';
import { RunsWriter } from './runs-writer.ts';

/** Maximum number of entries per transaction. */
const BATCH_ENTRIES = 16_384;
/** Maximum number of facets in memory. */
const MAX_FACETS = 2048;

export class Indexer {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #log: DatabaseSync;
  readonly #index: DatabaseSync;
  readonly #blocks: BlockReader;
  readonly #tallies: TalliesWriter;
  readonly #position: PositionWriter;
  readonly #postings: PostingsWriter;
  readonly #runs: RunsWriter;
  readonly #encoder: RunsEncoder;
  /** Encodings in which runs before these seqs may be missing. */
  readonly #toEncode = new Map<StoredEncoding, Seq>();
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
    this.#blocks = new BlockReader(this.#log);
    this.#tallies = new TalliesWriter(this.#index);
    this.#position = new PositionWriter(this.#index, 'indexed', (seq) => this.#blocks.linkAt(seq));
    this.#postings = new PostingsWriter(this.#index);
    this.#runs = new RunsWriter(this.#blocks, this.#index, paths);
    this.#encoder = new RunsEncoder(this.#index, paths);
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
    const wasEncodedSpoiled = this.#encoder.repair(last);
    this.#shared.spoiledRun = 0;
    return wasSpoiled || wasEncodedSpoiled;
  }

  /**
   * Removes entries that were withheld, and can still be read, from the postings and runs, and leaves no
   * trace of them in the files. Throws on a disk error, where a reader holds the WAL, and where an entry
   * cannot be read any more, so that the index has to be made again.
   */
  erase(): void {
    const { indexed } = this.#shared;
    const stored = unerased(this.#log).flatMap((seq) =>
      seq > indexed ? [] : (this.#blocks.unerased(seq) ?? []),
    );
    this.#shared.runsVersion += 1;
    this.#index.exec('BEGIN IMMEDIATE');
    try {
      for (const entry of stored) this.#removePostings(entry);
      this.#postings.flush();
      this.#replaceRuns(stored);
      this.#index.exec('COMMIT');
    } finally {
      this.#postings.reset();
      if (this.#index.isTransaction) this.#index.exec('ROLLBACK');
      this.#shared.runsVersion += 1;
    }
    // Pages that SQLite has freed, or moved bytes from, still have what they had.
    this.#index.exec('VACUUM');
    const busy = this.#index.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
    if (busy !== 0) throw new StorageFault('The WAL of index.sqlite is being read.');
  }

  /**
   * Removes the runs of these entries, so that they are read from the log, where they are known to be
   * unreadable. A run that was made from bytes that had changed already would have them.
   */
  removeRunsWith(seqs: readonly Seq[]): void {
    for (const seq of seqs) {
      const kind = this.#kindOf(seq);
      const run = kind && this.#runs.runWith(kind, seq);
      if (kind === undefined || run === undefined) continue;
      // Whoever is reading it must not take zeros for what was stored.
      this.#shared.runsVersion += 1;
      this.#encoder.erase(kind, run.last);
      this.#runs.remove(kind, run);
      this.#shared.runsVersion += 1;
    }
  }

  /** Compresses a run that a reader has missed. Returns whether there may be more. */
  encodeRun(): boolean {
    for (const encoding of STORED_ENCODINGS) {
      if (this.#shared.takeWantedEncoding(encoding)) this.#toEncode.set(encoding, Infinity);
      const before = this.#toEncode.get(encoding);
      if (before === undefined) continue;
      // Where it fails, the next reader who misses one has it tried again.
      this.#toEncode.delete(encoding);
      const last = this.#encoder.encodeNext(encoding, before);
      if (last !== undefined) this.#toEncode.set(encoding, last);
      return true;
    }
    return false;
  }

  close(): void {
    this.#runs.close();
    this.#index.close();
    this.#log.close();
  }

  /** `from` is exclusive, `to` inclusive; both are in one part. */
  #indexRange(from: Seq, to: Seq): void {
    const counter = new RowCounter();
    for (const row of this.#blocks.rows({ from: from + 1, to })) {
      this.#addRow(row);
      counter.add(row);
    }
    this.#writePostings();
    this.#postings.flush();
    this.#tallies.add(counter.rows(), to);
  }

  #addRow({ seq, kind, facets, large, size }: EntryRow): void {
    this.#addPostings(seq, facets);
    if (large !== undefined) {
      for (const chunk of largeFacets(this.#paths, large))
        this.#addPostings(seq, Buffer.from(chunk));
    }
    this.#runs.add(kind, seq, size, large !== undefined);
  }

  #removePostings({ seq, kind, room, facets, large }: StoredEntry): void {
    const counted = new Set([facet('kind', kind), facet('room', room)].map(keyOf));
    for (const part of [facets, ...(large === undefined ? [] : largeFacets(this.#paths, large))])
      for (let at = 0; at < part.length; at += FACET_SIZE) {
        const found = part.subarray(at, at + FACET_SIZE);
        if (!counted.has(keyOf(found))) this.#postings.remove(seq, found);
      }
  }

  #replaceRuns(entries: readonly StoredEntry[]): void {
    const replaced = new Set<string>();
    for (const { kind, seq } of entries) {
      const run = this.#runs.runWith(kind, seq);
      const key = `${kind} ${run?.last}`;
      if (run === undefined || replaced.has(key)) continue;
      replaced.add(key);
      this.#encoder.erase(kind, run.last);
      this.#runs.replace(kind, run);
    }
    this.#runs.truncate();
  }

  /** Undefined where it cannot be read: then it cannot have been read for a run. */
  #kindOf(seq: Seq): Kind | undefined {
    return readable(() => this.#blocks.stored(seq))?.kind;
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

function keyOf(bytes: Uint8Array): string {
  return facetKey(Buffer.from(bytes), 0);
}

function changedPart(part: number): SpoiledIndex {
  return new SpoiledIndex(`The index of the entries from ${part * PART_SIZE} on has changed.`);
}
