/**
 * Runs: consecutive entries of one kind, about a megabyte, whose texts a listing sends as one file. Large
 * entries are in no run: a run ends before them. Here is only where they begin and end (see `runs.ts`).
 */
import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../log/log.ts';
import type { EntryRow } from '../log/entry-row.ts';

/** A run is complete when it has this many bytes of entries. Only its last entry exceeds that. */
const RUN_SIZE = 1024 * 1024;
/** Shorter runs, in bytes, are not worth a file. */
const MIN_RUN_SIZE = 64 * 1024;

export interface Run {
  readonly kind: Kind;
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
}

/** A row of the table `runs`. One without entries is to be removed. */
export interface RunRow extends Run {
  /** Bytes of the texts. */
  readonly size: number;
  readonly isComplete: boolean | number;
}

export class RunBounds {
  readonly #open: Map<Kind, RunRow>;
  readonly #changed = new Map<string, RunRow>();

  /** `open`: those that are not complete. */
  constructor(open: readonly RunRow[]) {
    this.#open = new Map(open.map((run) => [run.kind, run]));
  }

  /** Adds the next entry, which is small. */
  add({ kind, seq, size: added }: Pick<EntryRow, 'kind' | 'seq' | 'size'>): void {
    const open = this.#open.get(kind) ?? { first: seq, count: 0, size: 0 };
    const { first } = open;
    const size = open.size + added;
    this.#put({ kind, first, last: seq, count: open.count + 1, size, isComplete: false });
    if (size >= RUN_SIZE) this.complete(kind);
  }

  /** Ends the open run of a kind. */
  complete(kind: Kind): void {
    const open = this.#open.get(kind);
    if (open === undefined) return;
    const isKept = open.size >= MIN_RUN_SIZE;
    this.#put({ ...open, isComplete: true, count: isKept ? open.count : 0 });
    this.#open.delete(kind);
  }

  completeAll(): void {
    for (const kind of this.#open.keys()) this.complete(kind);
  }

  /** Those that have changed since the last call. */
  takeChanged(): readonly RunRow[] {
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    return changed;
  }

  #put(run: RunRow): void {
    this.#open.set(run.kind, run);
    this.#changed.set(`${run.kind} ${run.first}`, run);
  }
}
