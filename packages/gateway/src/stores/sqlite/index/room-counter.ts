/** The number of entries of each room and kind: in the index, and after it in the log. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import type { Kind } from '@open-presence/protocol';

import type { RoomCount, Seq } from '../../../log/log.ts';
import type { BlockReader, SeqSpan } from '../log/block-reader.ts';
import type { EntryRow } from '../log/record.ts';
import type { IndexSource } from './index-connection.ts';

/** Aggregate of the entries of one kind in a room. */
interface CountRow {
  readonly room: string;
  readonly kind: Kind;
  readonly count: number;
  readonly seq: Seq;
  readonly time: number;
}

// One statement sees one snapshot of the index: the counts, the seq up to which they count, and the
// checksum of both.
const TALLIES = `SELECT room, kind, count, seq, time,
    (SELECT value FROM meta WHERE name = 'indexed') AS indexed,
    (SELECT value FROM meta WHERE name = 'tallies') AS sum
  FROM tallies ORDER BY room, kind`;

/** Counts of more entries than this are stored in memory, while the index does not have them. */
const MAX_COUNTED = 65_536;

interface Tallies {
  readonly rows: readonly CountRow[];
  readonly until: Seq;
}

/** Counts entries, which must be added in the order of the log. */
export class RowCounter {
  readonly #counts = new Map<string, { -readonly [Name in keyof CountRow]: CountRow[Name] }>();

  add({ seq, room, kind, time }: Pick<EntryRow, 'seq' | 'room' | 'kind' | 'time'>): void {
    const key = `${kind} ${room}`;
    const found = this.#counts.get(key);
    if (found === undefined) this.#counts.set(key, { room, kind, count: 1, seq, time });
    else {
      found.count += 1;
      found.seq = seq;
      found.time = Math.max(found.time, time);
    }
  }

  rows(): Iterable<CountRow> {
    return this.#counts.values();
  }
}

/** Counts the entries of a span. Leaves out what cannot be read. */
function countRows(log: BlockReader, span: SeqSpan): Iterable<CountRow> {
  const counter = new RowCounter();
  for (const row of log.rows(span)) counter.add(row);
  return counter.rows();
}

/** Counts entries, inside the indexer's transaction. */
export class TalliesWriter {
  readonly #add: StatementSync;
  readonly #all: StatementSync;
  readonly #setSum: StatementSync;

  constructor(index: DatabaseSync) {
    this.#add = index.prepare(
      `INSERT INTO tallies VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET count = count + excluded.count, seq = excluded.seq, time = excluded.time`,
    );
    this.#all = index.prepare(TALLIES);
    this.#setSum = index.prepare("INSERT OR REPLACE INTO meta VALUES ('tallies', ?)");
  }

  /** `until`: the seq up to which the index has all entries, with these. */
  add(counts: Iterable<CountRow>, until: Seq): void {
    for (const { room, kind, count, seq, time } of counts)
      this.#add.run(room, kind, count, seq, time);
    this.#setSum.run(talliesSum(this.#all.all() as unknown as CountRow[], until));
  }
}

export function talliesHold(index: DatabaseSync): boolean {
  return readTallies(index.prepare(TALLIES)) !== undefined;
}

/** Undefined if they are not what was written. */
function readTallies(statement: StatementSync): Tallies | undefined {
  const found = statement.all();
  const [first] = found;
  if (first === undefined) return { rows: [], until: 0 };
  const rows = found as unknown as CountRow[];
  const until = first['indexed'] as Seq;
  return talliesSum(rows, until) === first['sum'] ? { rows, until } : undefined;
}

function talliesSum(rows: readonly CountRow[], until: Seq): number {
  const columns = rows.map(({ room, kind, count, seq, time }) => [room, kind, count, seq, time]);
  return crc32(JSON.stringify([until, columns]));
}

/** Counts the entries of each room and kind up to a head: those in the index, and those after it. */
export function roomCounter(log: BlockReader, index: IndexSource): (head: Seq) => RoomCount[] {
  let counted: Tallies = { rows: [], until: 0 };
  return (head) => {
    let base = index.read(TALLIES, readTallies) ?? counted;
    if (base.until < counted.until) base = counted;
    const counts = mergeCounts(base.rows, countRows(log, { from: base.until + 1, to: head }));
    if (head - base.until > MAX_COUNTED) counted = { rows: counts, until: head };
    return counts.map(({ room, kind, count, seq, time }) => {
      return { room, kind, count, latest: { seq, time } };
    });
  };
}

/** The counts before, and those of later entries. */
function mergeCounts(before: readonly CountRow[], later: Iterable<CountRow>): CountRow[] {
  const counts = new Map(before.map((row) => [`${row.kind} ${row.room}`, row]));
  for (const row of later) {
    const key = `${row.kind} ${row.room}`;
    counts.set(key, { ...row, count: row.count + (counts.get(key)?.count ?? 0) });
  }
  return [...counts.values()];
}
