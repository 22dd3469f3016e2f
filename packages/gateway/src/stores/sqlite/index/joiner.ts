/** Joins the texts of many entries inside the database, where it costs least. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Order, Seq } from '../../../log/log.ts';

export interface Joined {
  readonly joined: Uint8Array;
  /** 1 if a large entry is among them, whose text is not whole here. */
  readonly large: 0 | 1;
}

export class Joiner {
  readonly #dense: StatementSync;
  readonly #sparse: StatementSync;

  constructor(log: DatabaseSync, order: Order, joiner: string) {
    const direction = order === 'newest' ? 'DESC' : 'ASC';
    const joined = (rows: string): StatementSync =>
      log.prepare(
        `SELECT CAST(group_concat(text, '${joiner}') AS BLOB) AS joined,
           max(large IS NOT NULL) AS large FROM (${rows} LIMIT -1)`,
      );
    this.#dense = joined(
      `SELECT text, large FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq ${direction}`,
    );
    this.#sparse = joined(
      `SELECT e.text, e.large FROM json_each(?) AS j JOIN entries AS e ON e.seq = j.value
       ORDER BY j.key`,
    );
  }

  /** `seqs`: at least one, in the order of the joiner. */
  join(seqs: readonly Seq[]): Joined {
    const [first = 0] = seqs;
    const last = seqs.at(-1) ?? first;
    const dense = Math.abs(last - first) === seqs.length - 1;
    const row = dense
      ? this.#dense.get(Math.min(first, last), Math.max(first, last))
      : this.#sparse.get(JSON.stringify(seqs));
    return row as unknown as Joined;
  }
}
