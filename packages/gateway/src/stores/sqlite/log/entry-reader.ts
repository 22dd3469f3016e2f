/** Reads entries from the log's database, in the calling thread. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind, Stamp } from '@open-presence/protocol';

import type { Entry, Order, Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeChunks } from './large-files.ts';

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

export interface JoinedText {
  readonly text: Uint8Array;
  /** 1 if a large entry is among them, whose text is not complete here. */
  readonly hasLarge: 0 | 1;
}

/** Joins the texts of many entries inside SQLite, which costs less than one call per entry. */
export class TextJoiner {
  readonly #contiguous: StatementSync;
  readonly #sparse: StatementSync;

  constructor(log: DatabaseSync, order: Order, joiner: string) {
    const direction = order === 'newest' ? 'DESC' : 'ASC';
    const prepare = (rows: string): StatementSync =>
      log.prepare(
        `SELECT CAST(group_concat(text, '${joiner}') AS BLOB) AS text,
           max(large IS NOT NULL) AS hasLarge FROM (${rows} LIMIT -1)`,
      );
    this.#contiguous = prepare(
      `SELECT text, large FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq ${direction}`,
    );
    this.#sparse = prepare(
      `SELECT e.text, e.large FROM json_each(?) AS j JOIN entries AS e ON e.seq = j.value
       ORDER BY j.key`,
    );
  }

  /** `seqs`: at least one, in the order that was given to the constructor. */
  join(seqs: readonly Seq[]): JoinedText {
    const [first = 0] = seqs;
    const last = seqs.at(-1) ?? first;
    const isContiguous = Math.abs(last - first) === seqs.length - 1;
    const row = isContiguous
      ? this.#contiguous.get(Math.min(first, last), Math.max(first, last))
      : this.#sparse.get(JSON.stringify(seqs));
    return row as unknown as JoinedText;
  }
}
