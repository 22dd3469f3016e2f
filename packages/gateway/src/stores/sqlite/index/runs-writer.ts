import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { DataPaths } from '../data-paths.ts';
import { type Run, runsFile } from './runs.ts';

const END_OF_RUNS = 'SELECT coalesce(max(position + length), 0) AS at FROM runs WHERE kind = ?';

/** Whether the files have all the runs that are in the index. */
export function hasAllRuns(db: DatabaseSync, paths: DataPaths): boolean {
  const end = db.prepare(END_OF_RUNS);
  return KINDS.every((kind) => {
    const size = statSync(runsFile(paths, kind), { throwIfNoEntry: false })?.size ?? 0;
    return size >= (end.get(kind)?.['at'] as number);
  });
}

/** Appends runs, inside the indexer's transaction. */
export class RunsWriter {
  readonly #files = new Map<Kind, { readonly handle: number; end: number }>();
  readonly #put: StatementSync;

  /** Truncates what a crash left behind the last run in the index. */
  constructor(db: DatabaseSync, paths: DataPaths) {
    mkdirSync(paths.runs, { recursive: true });
    const end = db.prepare(END_OF_RUNS);
    for (const kind of KINDS) {
      const handle = openSync(runsFile(paths, kind), 'a');
      const at = end.get(kind)?.['at'] as number;
      ftruncateSync(handle, at);
      this.#files.set(kind, { handle, end: at });
    }
    this.#put = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** `joined`: the entries joined newest first. Flushed before it returns. */
  add(kind: Kind, run: Pick<Run, 'first' | 'last' | 'count'>, joined: Uint8Array): void {
    const file = this.#files.get(kind);
    if (file === undefined) return;
    // A failed transaction may have left bytes behind the end.
    ftruncateSync(file.handle, file.end);
    try {
      for (let at = 0; at < joined.length;) at += writeSync(file.handle, joined, at);
      fdatasyncSync(file.handle);
    } catch (error) {
      // If the disk is full, the log needs the space more than the index does.
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

/** Removes the files of all runs. */
export function removeRuns(paths: DataPaths): void {
  rmSync(paths.runs, { recursive: true, force: true });
}
