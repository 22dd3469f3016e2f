/**
 * Runs: stretches of about a megabyte of one kind's entries, already joined newest first as a
 * listing gives them, in one file a kind. Reading a whole kind is then reading a file. Large
 * entries are in no run; a run simply ends before them.
 */
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  statSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../schema.ts';

/** Bytes of entries from which a run is made. */
export const RUN_SIZE: number = 1024 * 1024;
/** What a run's entries are joined by. */
export const RUN_JOINER = ',\n';
/** A run comes in one piece as a rule: only the last entry of it goes beyond its size. */
const PIECE = RUN_SIZE + 256 * 1024;
/** Buffers kept for the next reading: to count and collect them costs V8 more than reading does. */
const MOST_SPARE = 4;

export interface Run {
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
  readonly position: number;
  readonly length: number;
}

const END_OF_RUNS = 'SELECT coalesce(max(position + length), 0) AS at FROM runs WHERE kind = ?';

/** Whether the files have all the runs that the index knows. */
export function hasItsRuns(db: DatabaseSync, places: DataPaths): boolean {
  const end = db.prepare(END_OF_RUNS);
  return KINDS.every((kind) => {
    const size = statSync(fileOf(places, kind), { throwIfNoEntry: false })?.size ?? 0;
    return size >= (end.get(kind)?.['at'] as number);
  });
}

/** Appends runs; runs inside the indexer's transaction. */
export class RunsWriter {
  readonly #files = new Map<Kind, { readonly handle: number; end: number }>();
  readonly #put: StatementSync;

  /** Cuts off what a crash left behind the last run that the index knows. */
  constructor(db: DatabaseSync, places: DataPaths) {
    mkdirSync(places.runs, { recursive: true });
    const end = db.prepare(END_OF_RUNS);
    for (const kind of KINDS) {
      const handle = openSync(fileOf(places, kind), 'a');
      const at = end.get(kind)?.['at'] as number;
      ftruncateSync(handle, at);
      this.#files.set(kind, { handle, end: at });
    }
    this.#put = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** `pieces`: the entries joined newest first. Flushed before it returns. */
  add(kind: Kind, run: Pick<Run, 'first' | 'last' | 'count'>, joined: Uint8Array): void {
    const file = this.#files.get(kind);
    if (file === undefined) return;
    // A transaction that failed may have left bytes behind the end.
    ftruncateSync(file.handle, file.end);
    try {
      for (let at = 0; at < joined.length;) at += writeSync(file.handle, joined, at);
      fdatasyncSync(file.handle);
    } catch (error) {
      // The log needs the room of a full disk more than the index does.
      ftruncateSync(file.handle, file.end);
      throw error;
    }
    this.#put.run(kind, run.first, run.last, run.count, file.end, joined.length);
    file.end += joined.length;
  }

  close(): void {
    for (const { handle } of this.#files.values()) closeSync(handle);
  }
}

export class RunsReader {
  readonly #places: DataPaths;
  readonly #newest: StatementSync;
  readonly #handles = new Map<Kind, Promise<FileHandle>>();
  readonly #spare: Buffer[] = [];

  constructor(db: DatabaseSync, places: DataPaths) {
    this.#places = places;
    this.#newest = db.prepare(
      'SELECT first, last, count, position, length FROM runs WHERE kind = ? AND last <= ? ORDER BY last DESC LIMIT 16',
    );
  }

  /** The newest runs of a kind that end at `last` or before, newest first. */
  newest(kind: Kind, last: Seq): readonly Run[] {
    return this.#newest.all(kind, last) as unknown as readonly Run[];
  }

  /** Reads of the file of a kind into a buffer, which it fills. */
  async fill(kind: Kind, position: number, buffer: Buffer): Promise<Buffer> {
    let handle = this.#handles.get(kind);
    if (handle === undefined) {
      handle = open(fileOf(this.#places, kind));
      this.#handles.set(kind, handle);
    }
    const file = await handle;
    for (let at = 0; at < buffer.length;) {
      const { bytesRead } = await file.read(buffer, at, buffer.length - at, position + at);
      if (bytesRead === 0) throw new Error(`The file of runs of "${kind}" ends too early.`);
      at += bytesRead;
    }
    return buffer;
  }

  /** A buffer for one piece. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(PIECE);
  }

  giveBack(buffer: Buffer): void {
    if (this.#spare.length < MOST_SPARE) this.#spare.push(buffer);
  }

  async close(): Promise<void> {
    for (const handle of this.#handles.values()) await (await handle).close();
  }
}

/** One reading of a kind's runs, a piece at a time: while one is being used, the next is read. */
export class RunReading implements AsyncDisposable {
  readonly #runs: RunsReader;
  readonly #kind: Kind;
  /** Some of the newest first, without a gap. */
  #known: readonly Run[] = [];
  #buffers: readonly [Buffer, Buffer] | undefined;
  #turn: 0 | 1 = 0;
  #ahead: { readonly position: number; readonly bytes: Promise<Buffer> } | undefined;

  constructor(runs: RunsReader, kind: Kind) {
    this.#runs = runs;
    this.#kind = kind;
  }

  /**
   * The newest run that lies in the seqs from `first` to `last` with at most `most` entries.
   * Each `last` must be less than those asked for before.
   */
  find(first: Seq, last: Seq, most: number): Run | undefined {
    const lies = (run: Run): boolean => run.last <= last;
    let run = this.#known.find(lies);
    if (run === undefined) {
      this.#known = this.#runs.newest(this.#kind, last);
      run = this.#known.find(lies);
    }
    return run !== undefined && run.first >= first && run.count <= most ? run : undefined;
  }

  /** The text of a run. A piece is overwritten when the one after it has been given. */
  async *pieces(run: Run, following: Run | undefined): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < run.length; at += PIECE) {
      const position = run.position + at;
      // What was read ahead in vain must have let go of its buffer before another read takes it.
      if (this.#ahead?.position !== position) await this.#ahead?.bytes.catch(() => {});
      const begun = this.#ahead?.position === position ? this.#ahead : this.#read(run, at);
      const bytes = await begun.bytes;
      this.#ahead = undefined;
      if (at + PIECE < run.length) this.#ahead = this.#read(run, at + PIECE);
      else if (following !== undefined) this.#ahead = this.#read(following, 0);
      yield bytes;
    }
  }

  /** To be called when nobody uses a piece any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ahead?.bytes.catch(() => {});
    for (const buffer of this.#buffers ?? []) this.#runs.giveBack(buffer);
    this.#buffers = undefined;
  }

  #read(run: Run, at: number): { readonly position: number; readonly bytes: Promise<Buffer> } {
    this.#buffers ??= [this.#runs.take(), this.#runs.take()];
    this.#turn = this.#turn === 0 ? 1 : 0;
    const buffer = this.#buffers[this.#turn].subarray(0, Math.min(PIECE, run.length - at));
    const position = run.position + at;
    const bytes = this.#runs.fill(this.#kind, position, buffer);
    // Whoever awaits it is told; it may also be that nobody does.
    bytes.catch(() => {});
    return { position, bytes };
  }
}

/** Removes the files of all runs. */
export function removeRuns(places: DataPaths): void {
  rmSync(places.runs, { recursive: true, force: true });
}

function fileOf(places: DataPaths, kind: Kind): string {
  return join(places.runs, kind);
}
