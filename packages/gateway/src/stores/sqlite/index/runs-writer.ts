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
  statSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet, type Facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { BlockReader } from '../log/block-reader.ts';
import type { IndexSource } from './index-connection.ts';
import { PostingsCursor } from './postings.ts';
import {
  bytesHold,
  eraseRun,
  isPossible,
  MAX_RUN_SIZE,
  plainBytes,
  type Run,
  RUN_JOINER,
  runHolds,
  runsFile,
  sumOf,
} from './runs-files.ts';

/** A run is written when it has this many bytes of entries. Only its last entry exceeds that. */
const RUN_SIZE = 1024 * 1024;
const JOINER = Buffer.from(RUN_JOINER);
/** Shorter runs, in bytes, are not worth a row and a read. */
const MIN_RUN_SIZE = 64 * 1024;
const END_OF_RUNS = 'SELECT coalesce(max(position + length), 0) AS at FROM runs WHERE kind = ?';

interface KindState {
  readonly file: number;
  /** Where the next run is written. */
  end: number;
  /** Indexed entries that are in no run yet, and the bytes of their texts. */
  seqs: Seq[];
  size: number;
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
  readonly #log: BlockReader;
  readonly #put: StatementSync;
  readonly #kinds = new Map<Kind, KindState>();

  /** Truncates what a crash left behind the last run in the index. */
  constructor(log: BlockReader, index: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#index = index;
    this.#log = log;
    this.#put = index.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)');
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
    const stored = plainBytes(this.#paths, kind, run);
    if (runHolds(stored)) return false;
    const text = isPossible(run) ? this.#textOf(kind, run) : undefined;
    if (text !== undefined && bytesHold(stored, text)) this.#rewrite(kind, run, text);
    else this.remove(kind, run);
    return true;
  }

  remove(kind: Kind, run: Run): void {
    // What is not found any more could not be erased if it was withheld.
    eraseRun(plainBytes(this.#paths, kind, run));
    this.#index.prepare('DELETE FROM runs WHERE kind = ? AND last = ?').run(kind, run.last);
  }

  /** The run that has the entry, if there is one. */
  runWith(kind: Kind, seq: Seq): Run | undefined {
    const row = this.#index
      .prepare('SELECT * FROM runs WHERE kind = ? AND last >= ? ORDER BY last LIMIT 1')
      .get(kind, seq);
    const run = row as unknown as Run | undefined;
    return run !== undefined && run.first <= seq ? run : undefined;
  }

  /** Erases the bytes of a run, and writes it again as the log has its entries now. */
  replace(kind: Kind, run: Run): void {
    this.remove(kind, run);
    const state = this.#kinds.get(kind);
    const text = isPossible(run) ? this.#textOf(kind, run) : undefined;
    if (state === undefined || text === undefined || text.length > MAX_RUN_SIZE) return;
    const isFitting = text.length <= run.length;
    const position = isFitting ? run.position : state.end;
    if (!isFitting) state.end += text.length;
    this.#rewrite(kind, { position }, text);
    this.#putRow(kind, { ...run, position }, text);
  }

  /** Removes what failed transactions have left behind the runs. */
  truncate(): void {
    for (const { file, end } of this.#kinds.values()) ftruncateSync(file, end);
  }

  close(): void {
    for (const { file } of this.#kinds.values()) closeSync(file);
  }

  #textOf(kind: Kind, { first, last, count }: Run): Uint8Array | undefined {
    const seqs = newestFirst(this.#index, facet('kind', kind), last, first).take(count);
    return this.#join([...seqs].toReversed());
  }

  /** Not through the open file, which only appends. */
  #rewrite(kind: Kind, { position }: Pick<Run, 'position'>, text: Uint8Array): void {
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
    const last = seqs.at(-1) ?? first;
    this.#putRow(kind, { first, last, count: seqs.length, position: end }, text);
    state.end += text.length;
  }

  #putRow(kind: Kind, run: Omit<Run, 'length' | 'sum'>, text: Uint8Array): void {
    const { first, last, count, position } = run;
    const { length } = text;
    const sum = sumOf(plainBytes(this.#paths, kind, { ...run, length, sum: 0 }), text);
    this.#put.run(kind, first, last, count, position, length, sum);
  }

  /** Undefined where one of these entries cannot be read: they are read one by one from the log then. */
  #join(seqs: readonly Seq[]): Uint8Array | undefined {
    const text = this.#log.joinTexts(seqs.toReversed(), RUN_JOINER);
    return text && Buffer.concat([JOINER, text]);
  }

  /** Undefined where the entry is large or cannot be read. */
  #sizeOf(seq: Seq): number | undefined {
    try {
      const row = this.#log.entry(seq);
      return row?.large === undefined ? row?.size : undefined;
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
