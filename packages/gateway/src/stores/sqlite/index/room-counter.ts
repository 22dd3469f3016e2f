import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Kind } from '@open-presence/protocol';

import type { RoomCount, Seq } from '../../../log/log.ts';
import { readSpans } from '../log/readable-ranges.ts';

/** Aggregate of the entries of one kind in a room. */
export interface CountRow {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  readonly seq: Seq;
  readonly time: number;
}

/** Aggregates per room and kind of the entries after a seq up to another. */
export const COUNT_ENTRIES = `SELECT room, kind, count(*) AS count, max(seq) AS seq, max(time) AS time
  FROM entries WHERE seq > ? AND seq <= ? GROUP BY room, kind`;

/** What `COUNT_ENTRIES` finds; a room and kind may be in several rows. `after` is exclusive. */
export function* countRows(counts: StatementSync, after: Seq, to: Seq): Generator<CountRow> {
  const spans = readSpans({ from: after + 1, to }, ({ from, to }) => counts.all(from - 1, to));
  for (const { rows } of spans) yield* rows as unknown as CountRow[];
}

/** Counts the entries of each room and kind up to a head: those in the index, and those after it. */
export function roomCounter(log: DatabaseSync, index: DatabaseSync): (head: Seq) => RoomCount[] {
  // One statement sees one snapshot of the index: the counts, and the seq up to which they count.
  const indexed = index.prepare(
    `SELECT room, kind, count, seq, time,
       (SELECT value FROM meta WHERE name = 'indexed') AS indexed FROM tallies`,
  );
  const unindexed = log.prepare(COUNT_ENTRIES);
  return (head) => {
    const counts = new Map<string, RoomCount>();
    const indexedRows = indexed.all();
    const until = (indexedRows[0]?.['indexed'] as Seq | undefined) ?? 0;
    const rows = [...(indexedRows as unknown as CountRow[]), ...countRows(unindexed, until, head)];
    for (const { room, kind, count, seq, time } of rows) {
      const key = `${kind} ${room}`;
      const before = counts.get(key)?.count ?? 0;
      counts.set(key, { room, kind, count: before + count, latest: { seq, time } });
    }
    return [...counts.values()];
  };
}
