/** Makes files of runs that readers have missed, in the segments' thread. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Seq } from '../../../../log/log.ts';
import { assertStorageFault } from '../../../../storage-fault.ts';
import type { DataPaths } from '../../data-paths.ts';
import type { RowReader } from '../../log/row-reader.ts';
import type { Run } from './run-bounds.ts';
import {
  encodeRun,
  headerOf,
  MAX_RUN_SIZE,
  RUN_FORMS,
  RUN_JOINER,
  type RunFile,
  runPath,
  runsFolder,
} from './run-files.ts';
import { isMissing, makeIfMissing } from '../../segment-record.ts';
import type { SegmentReader } from '../segment-reader.ts';

/** Readers ask again for what is forgotten. */
const MAX_WANTED = 4096;

const ONE = 'SELECT first, count FROM runs WHERE kind = ? AND last = ?';
const WITH = 'SELECT kind, last FROM runs WHERE ? BETWEEN first AND last';

export interface RunsContext {
  readonly paths: DataPaths;
  readonly log: RowReader;
  readonly reader: SegmentReader;
  /** Whether an entry of the span is known to be unreadable. */
  readonly hasDamaged: (from: Seq, to: Seq) => boolean;
  readonly onSpoiled: (file: string) => void;
}

export class RunsMaker {
  readonly #context: RunsContext;
  /** By path. The newest are made first. */
  readonly #wanted = new Map<string, RunFile>();

  constructor(context: RunsContext) {
    this.#context = context;
  }

  want(file: RunFile): void {
    if (this.#wanted.size < MAX_WANTED) this.#wanted.set(runPath(this.#context.paths, file), file);
  }

  /** Makes the next one. Returns false if there is none. */
  async work(): Promise<boolean> {
    const [next] = this.#wanted;
    if (next === undefined) return false;
    const [path, file] = next;
    this.#wanted.delete(path);
    if (this.#hasFile(path)) return true;
    const text = this.#textOf(file);
    if (text === undefined) return true;
    const bytes = await encodeRun(text, file.form);
    // What was withheld meanwhile has removed the segment.
    if (this.#textOf(file)?.equals(text) !== true) return true;
    makeIfMissing(runsFolder(this.#context.paths, file.segment));
    const temporary = `${path}.new`;
    try {
      writeFileSync(temporary, bytes);
      renameSync(temporary, path);
    } catch (error) {
      // If the disk is full, the log needs the space more.
      rmSync(temporary, { force: true });
      throw error;
    }
    return true;
  }

  /** Removes the files of a segment that are not what was written. Yields between them. */
  *check(segment: number): Generator<void, void, undefined> {
    const folder = runsFolder(this.#context.paths, segment);
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      this.#hasFile(join(folder, name));
      yield;
    }
  }

  /**
   * Removes the runs that have these entries, so that they are read from the log, where they are known to be
   * unreadable: a run that was made of changed bytes would have them.
   */
  removeWith(seqs: readonly Seq[]): void {
    const { paths, reader } = this.#context;
    for (const seq of seqs) {
      const segment = reader.segments.numberOf(seq);
      const runs = reader.now(segment, (index) => index.statement(WITH).all(seq));
      for (const { kind, last } of (runs ?? []) as unknown as Run[])
        for (const form of RUN_FORMS)
          rmSync(runPath(paths, { segment, kind, last, form }), { force: true });
    }
  }

  /** Removes it where it is not what was written. */
  #hasFile(path: string): boolean {
    try {
      if (headerOf(readFileSync(path)) !== undefined) return true;
      this.#context.onSpoiled(path);
    } catch (error) {
      assertStorageFault(error);
      if (!isMissing(error)) throw error;
    }
    rmSync(path, { force: true });
    return false;
  }

  /** Undefined where the run is not to be made: some of it cannot be read, or is not in the segment. */
  #textOf({ segment, kind, last }: RunFile): Buffer | undefined {
    const { log, reader, hasDamaged } = this.#context;
    const run = reader.now(segment, (index) => index.statement(ONE).get(kind, last));
    if (run === undefined) return undefined;
    const { first, count } = run as unknown as Run;
    if (hasDamaged(first, last)) return undefined;
    const rows = log.rows({ from: first, to: last }).filter((row) => row.kind === kind);
    const seqs = Array.from(rows, ({ seq }) => seq).toReversed();
    if (seqs.length !== count) return undefined;
    const text = log.joinTexts(seqs, RUN_JOINER);
    return text !== undefined && text.length <= MAX_RUN_SIZE ? text : undefined;
  }
}
