/** Reads entries from the log's database, in the calling thread. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind, Stamp } from '@open-presence/protocol';

import type { Entry, Order, Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeChunks } from './large-files.ts';
import { type JoinedText, TextJoiner } from './text-joiner.ts';

export class EntryReader {
  readonly #paths: DataPaths;
  readonly #log: DatabaseSync;
  readonly #row: StatementSync;
  readonly #time: StatementSync;
  readonly #joiners = new Map<string, TextJoiner>();

  constructor(log: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#log = log;
    this.#row = log.prepare(
      'SELECT seq, time, kind, room, size, large, text FROM entries WHERE seq = ?',
    );
    this.#time = log.prepare('SELECT time FROM entries WHERE seq = ?');
  }

  entry(seq: Seq): Entry | undefined {
    const row = this.#row.get(seq);
    if (row === undefined) return undefined;
    const text = row['text'] as Uint8Array;
    const large = row['large'] as string | null;
    const paths = this.#paths;
    return {
      stamp: stampOf(row, text),
      size: row['size'] as number,
      text: large === null ? text : undefined,
      async *chunks(from = 0): AsyncGenerator<Uint8Array> {
        if (from < text.length) yield text.subarray(from);
        if (large !== null) yield* largeChunks(paths, large, Math.max(0, from - text.length));
      },
    };
  }

  /** `seqs`: at least one, in this order. */
  joinTexts(seqs: readonly Seq[], order: Order, joiner: string): JoinedText {
    const key = `${order} ${joiner}`;
    let join = this.#joiners.get(key);
    if (join === undefined) {
      join = new TextJoiner(this.#log, order, joiner);
      this.#joiners.set(key, join);
    }
    return join.join(seqs);
  }

  /** The first seq with at least this time, `head` + 1 if there is none. */
  firstSince(time: number, head: Seq): Seq {
    // A binary search: times never decrease along seq.
    let low = 1;
    let high = head + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#time.get(middle)?.['time'] as number) >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** `text` begins with `{"id":"` and the id. */
function stampOf(row: Record<string, unknown>, text: Uint8Array): Stamp {
  return {
    seq: row['seq'] as number,
    id: Buffer.from(text.buffer, text.byteOffset + 7, 36).toString('latin1'),
    kind: row['kind'] as Kind,
    room: row['room'] as string,
    time: row['time'] as number,
  };
}
