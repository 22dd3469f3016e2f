import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet, type Facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { TextJoiner } from '../log/text-joiner.ts';
import { postingsCursors } from './postings.ts';
import { RUN_JOINER, RUN_SIZE } from './runs.ts';
import { RunsWriter } from './runs-writer.ts';

/** Shorter runs, in bytes, are not worth a row and a read. */
const MIN_RUN_SIZE = 64 * 1024;

/** Indexed entries of a kind that are in no run yet. */
interface PendingRun {
  seqs: Seq[];
  size: number;
}

/** Collects the entries of each kind and writes them as runs. */
export class RunBuilder {
  readonly #index: DatabaseSync;
  readonly #joiner: TextJoiner;
  readonly #runs: RunsWriter;
  readonly #entry: StatementSync;
  readonly #pending = new Map<Kind, PendingRun>();

  constructor(log: DatabaseSync, index: DatabaseSync, paths: DataPaths) {
    this.#index = index;
    this.#joiner = new TextJoiner(log, 'newest', RUN_JOINER);
    this.#runs = new RunsWriter(index, paths);
    this.#entry = log.prepare('SELECT size, large FROM entries WHERE seq = ?');
  }

  /** Adds the next entry of a kind, inside the indexer's transaction. */
  add(kind: Kind, seq: Seq, size: number, isLarge: boolean): void {
    const pending = this.#pending.get(kind);
    if (pending === undefined) return;
    if (!isLarge) {
      pending.seqs.push(seq);
      pending.size += size;
    }
    if (pending.size >= RUN_SIZE || isLarge) this.#write(kind, pending);
  }

  /** Restores from the index what is pending at the seq `indexed`: at most about a run per kind. */
  restore(indexed: Seq): void {
    const last = this.#index.prepare(
      'SELECT coalesce(max(last), 0) AS seq FROM runs WHERE kind = ?',
    );
    for (const kind of KINDS) {
      const seqs: Seq[] = [];
      let size = 0;
      const end = last.get(kind)?.['seq'] as number;
      for (const seq of newestFirst(this.#index, facet('kind', kind), indexed, end + 1)) {
        const entry = this.#entry.get(seq);
        if (entry === undefined || entry['large'] !== null || size >= RUN_SIZE) break;
        seqs.push(seq);
        size += entry['size'] as number;
      }
      this.#pending.set(kind, { seqs: seqs.toReversed(), size });
    }
  }

  close(): void {
    this.#runs.close();
  }

  #write(kind: Kind, { seqs, size }: PendingRun): void {
    this.#pending.set(kind, { seqs: [], size: 0 });
    if (size < MIN_RUN_SIZE) return;
    const { text } = this.#joiner.join(seqs.toReversed());
    const [first = 0] = seqs;
    this.#runs.add(kind, { first, last: seqs.at(-1) ?? first, count: seqs.length }, text);
  }
}

function* newestFirst(index: DatabaseSync, wanted: Facet, from: Seq, until: Seq): Generator<Seq> {
  const cursor = postingsCursors(index, 'newest')(wanted);
  for (let at = from; ;) {
    const found = cursor.seek(at, until, Number.POSITIVE_INFINITY);
    if (found === 'none' || !('seq' in found)) return;
    yield found.seq;
    at = found.seq - 1;
  }
}
