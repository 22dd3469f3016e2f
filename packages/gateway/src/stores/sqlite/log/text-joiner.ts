import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Order, Seq } from '../../../log/log.ts';

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
