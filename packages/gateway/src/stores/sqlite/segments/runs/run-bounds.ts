/**
 * Runs: consecutive entries of one kind, about a megabyte, whose texts a listing sends as one file. Large
 * entries are in no run: a run ends before them. Here is only where they begin and end (see `runs-maker.ts`).
 */
import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../../log/log.ts';
import type { EntryRow } from '../../log/entry-row.ts';

/** A run ends when it has this many bytes of entries. Only its last entry exceeds that. */
const RUN_SIZE = 1024 * 1024;
/** Shorter runs, in bytes, are not worth a file. */
const MIN_RUN_SIZE = 64 * 1024;

export interface Run {
  readonly kind: Kind;
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
}

interface OpenRun extends Run {
  /** Bytes of the texts. */
  readonly size: number;
}

export class RunBounds {
  readonly #open = new Map<Kind, OpenRun>();
  #ended: Run[] = [];

  /** Adds the next entry, which is small. */
  add({ kind, seq, size: added }: Pick<EntryRow, 'kind' | 'seq' | 'size'>): void {
    const open = this.#open.get(kind) ?? { first: seq, count: 0, size: 0 };
    const size = open.size + added;
    this.#open.set(kind, { kind, first: open.first, last: seq, count: open.count + 1, size });
    if (size >= RUN_SIZE) this.end(kind);
  }

  /** Ends the run of a kind. */
  end(kind: Kind): void {
    const open = this.#open.get(kind);
    if (open !== undefined && open.size >= MIN_RUN_SIZE) this.#ended.push(open);
    this.#open.delete(kind);
  }

  endAll(): void {
    for (const kind of this.#open.keys()) this.end(kind);
  }

  /** Those that have ended since the last call. */
  takeEnded(): readonly Run[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}
