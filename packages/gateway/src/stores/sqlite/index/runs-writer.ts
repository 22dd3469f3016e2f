/**
 * Runs: sequences of about a megabyte of entries of one kind, joined newest first as a listing
 * returns them, in one file per kind. Reading a whole kind is then reading a file. Large entries are
 * in no run: a run ends before them.
 */
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet, type Facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import { TextJoiner } from '../log/entry-reader.ts';
import type { IndexSource } from './index-connection.ts';
import { PostingsCursor } from './postings.ts';

/** A run is written when it has this many bytes of entries. */
const RUN_SIZE = 1024 * 1024;
/** Longer runs, in bytes, are not written, since a run is read at once. Only its last entry exceeds `RUN_SIZE`. */
export const MAX_RUN_SIZE: number = RUN_SIZE + 256 * 1024;
/** Joins the entries of a run. */
export const RUN_JOINER = ',\n';
/** Shorter runs, in bytes, are not worth a row and a read. */
const MIN_RUN_SIZE = 64 * 1024;
const END_OF_RUNS = 'SELECT coalesce(max(position + length), 0) AS at FROM runs WHERE kind = ?';

export interface Run {
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
  /** Bytes in the file of the kind. */
  readonly position: number;
  readonly length: number;
  /** See `runSum`. */
  readonly sum: number;
}

/** The checksum of a run's row and bytes. */
export function runSum(kind: Kind, run: Omit<Run, 'sum'>, bytes: Uint8Array): number {
  const { first, last, count, position } = run;
  return crc32(bytes, crc32(`${kind} ${first} ${last} ${count} ${position}`));
}

/** Whether the row can be one that was written: a spoiled one may have any numbers. */
export function isPossible({ first, last, count, position, length }: Run): boolean {
  return (
    first > 0 &&
    first <= last &&
    count > 0 &&
    count <= length &&
    length <= MAX_RUN_SIZE &&
    position >= 0
  );
}

/** Whether the file has the bytes of a run that were written. Throws where there is no file. */
export function runHolds(paths: DataPaths, kind: Kind, run: Run): boolean {
  if (!isPossible(run)) return false;
  const bytes = Buffer.alloc(run.length);
  const file = openSync(runsFile(paths, kind), 'r');
  try {
    return (
      readSync(file, bytes, 0, run.length, run.position) === run.length &&
      runSum(kind, run, bytes) === run.sum
    );
  } catch (error) {
    assertStorageFault(error);
    return false;
  } finally {
    closeSync(file);
  }
}

interface KindState {
  readonly file: number;
  /** Where the next run is written. */
  end: number;
  /** Indexed entries that are in no run yet, and the bytes of their texts. */
  seqs: Seq[];
  size: number;
}

export function runsFile(paths: DataPaths, kind: Kind): string {
  return join(paths.runs, kind);
}

/** Whether the files have all the runs that are in the index. */
export function hasAllRuns(db: DatabaseSync, paths: DataPaths): boolean {
  const end = db.prepare(END_OF_RUNS);
  return KINDS.every((kind) => {
    const size = statSync(runsFile(paths, kind), { throwIfNoEntry: false })?.size ?? 0;
    return size >= (end.get(kind)?.['at'] as number);
  });
}

/** Collects the entries of each kind and writes them as runs, inside the indexer's transaction. */
export class RunsWriter {
  readonly #paths: DataPaths;
  readonly #index: DatabaseSync;
  readonly #joiner: TextJoiner;
  readonly #put: StatementSync;
  readonly #entry: StatementSync;
  readonly #kinds = new Map<Kind, KindState>();

  /** Truncates what a crash left behind the last run in the index. */
  constructor(log: DatabaseSync, index: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#index = index;
    this.#joiner = new TextJoiner(log, 'newest', RUN_JOINER);
    this.#put = index.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#entry = log.prepare('SELECT size, large FROM entries WHERE seq = ?');
    mkdirSync(paths.runs, { recursive: true });
    const endOfRuns = index.prepare(END_OF_RUNS);
    for (const kind of KINDS) {
      const file = openSync(runsFile(paths, kind), 'a');
      const end = endOfRuns.get(kind)?.['at'] as number;
      ftruncateSync(file, end);
      this.#kinds.set(kind, { file, end, seqs: [], size: 0 });
    }
  }

  /** Adds the next entry of a kind. */
  add(kind: Kind, seq: Seq, size: number, isLarge: boolean): void {
    const state = this.#kinds.get(kind);
    if (state === undefined) return;
    if (!isLarge) {
      state.seqs.push(seq);
      state.size += size;
    }
    if (state.size >= RUN_SIZE || isLarge) this.#write(kind, state);
  }

  /** Restores from the index what is pending at the seq `indexed`: at most about a run per kind. */
  restore(indexed: Seq): void {
    const last = this.#index.prepare(
      'SELECT coalesce(max(last), 0) AS seq FROM runs WHERE kind = ?',
    );
    for (const [kind, state] of this.#kinds) {
      const seqs: Seq[] = [];
      let size = 0;
      const end = last.get(kind)?.['seq'] as number;
      for (const seq of newestFirst(this.#index, facet('kind', kind), indexed, end + 1)) {
        const entrySize = this.#sizeOf(seq);
        if (entrySize === undefined || size >= RUN_SIZE) break;
        seqs.push(seq);
        size += entrySize;
      }
      Object.assign(state, { seqs: seqs.toReversed(), size });
    }
  }

  /** The last seq of the next run, of any kind. */
  next(last: Seq): Seq | undefined {
    const row = this.#index.prepare('SELECT min(last) AS last FROM runs WHERE last > ?').get(last);
    return (row?.['last'] as Seq | null) ?? undefined;
  }

  /**
   * Writes the bytes of the run that ends at `last` again if they have changed, or removes it, so that
   * its entries are read from the log. Returns whether they had changed.
   */
  repair(last: Seq): boolean {
    const row = this.#index.prepare('SELECT * FROM runs WHERE last = ?').get(last);
    if (row === undefined) return false;
    const kind = row['kind'] as Kind;
    const run = row as unknown as Run;
    if (runHolds(this.#paths, kind, run)) return false;
    const text = isPossible(run) ? this.#textOf(kind, run) : undefined;
    if (text?.length === run.length && runSum(kind, run, text) === run.sum)
      this.#rewrite(kind, run, text);
    else this.#index.prepare('DELETE FROM runs WHERE kind = ? AND last = ?').run(kind, last);
    return true;
  }

  close(): void {
    for (const { file } of this.#kinds.values()) closeSync(file);
  }

  #textOf(kind: Kind, { first, last, count }: Run): Uint8Array | undefined {
    const seqs = newestFirst(this.#index, facet('kind', kind), last, first).take(count);
    return this.#join([...seqs].toReversed());
  }

  /** Not through the open file, which only appends. */
  #rewrite(kind: Kind, { position }: Run, text: Uint8Array): void {
    const file = openSync(runsFile(this.#paths, kind), 'r+');
    try {
      for (let at = 0; at < text.length;)
        at += writeSync(file, text, at, text.length - at, position + at);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** The file is flushed before it returns. */
  #write(kind: Kind, state: KindState): void {
    const { file, end, seqs, size } = state;
    state.seqs = [];
    state.size = 0;
    if (size < MIN_RUN_SIZE) return;
    const text = this.#join(seqs);
    if (text === undefined || text.length > MAX_RUN_SIZE) return;
    // A failed transaction may have left bytes behind the end.
    ftruncateSync(file, end);
    try {
      for (let at = 0; at < text.length;) at += writeSync(file, text, at);
      fdatasyncSync(file);
    } catch (error) {
      // If the disk is full, the log needs the space more than the index does.
      ftruncateSync(file, end);
      throw error;
    }
    const [first = 0] = seqs;
    const { length } = text;
    const run = { first, last: seqs.at(-1) ?? first, count: seqs.length, position: end, length };
    this.#put.run(kind, first, run.last, run.count, end, length, runSum(kind, run, text));
    state.end += length;
  }

  /** Undefined where a page of the log is spoiled: these entries are read from the log one by one. */
  #join(seqs: readonly Seq[]): Uint8Array | undefined {
    try {
      return this.#joiner.join(seqs.toReversed()).text;
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }

  /** Undefined where the page of the log that has the entry is spoiled. */
  #sizeOf(seq: Seq): number | undefined {
    try {
      const row = this.#entry.get(seq);
      return row === undefined || row['large'] !== null ? undefined : (row['size'] as number);
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }
}

function* newestFirst(index: DatabaseSync, wanted: Facet, from: Seq, until: Seq): Generator<Seq> {
  const source: IndexSource = { read: (sql, read) => read(index.prepare(sql)) };
  const cursor = new PostingsCursor(source, wanted, 'newest');
  for (let at = from; ;) {
    const found = cursor.seek(at, until, Number.POSITIVE_INFINITY);
    if (found === 'none' || !('seq' in found)) return;
    yield found.seq;
    at = found.seq - 1;
  }
}
