import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind } from '@open-presence/protocol';

import type { RoomCount, Seq } from '../../../log/log.ts';

/** Aggregate of the entries of one kind in a room. */
export interface CountRow {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  readonly seq: Seq;
  readonly time: number;
}

/** Counts the entries of each room and kind: those in the index, and those after it. */
export class RoomCounter {
  readonly #indexed: StatementSync;
  readonly #unindexed: StatementSync;

  constructor(log: DatabaseSync, index: DatabaseSync) {
    // One statement sees one snapshot of the index: the counts, and the seq up to which they count.
    this.#indexed = index.prepare(
      `SELECT room, kind, count, seq, time,
         (SELECT value FROM meta WHERE name = 'indexed') AS indexed FROM tallies`,
    );
    this.#unindexed = log.prepare(
      'SELECT room, kind, count(*) AS count, max(seq) AS seq, max(time) AS time FROM entries WHERE seq > ? AND seq <= ? GROUP BY room, kind',
    );
  }

  counts(head: Seq): RoomCount[] {
    const counts = new Map<string, RoomCount>();
    const indexedRows = this.#indexed.all();
    const indexed = (indexedRows[0]?.['indexed'] as Seq | undefined) ?? 0;
    for (const row of [...indexedRows, ...this.#unindexed.all(indexed, head)]) {
      const { room, kind, count, seq, time } = row as unknown as CountRow;
      const key = `${kind} ${room}`;
      const before = counts.get(key)?.count ?? 0;
      counts.set(key, { room, kind, count: before + count, latest: { seq, time } });
    }
    return [...counts.values()];
  }
}
