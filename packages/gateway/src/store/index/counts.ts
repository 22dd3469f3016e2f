/** How many entries each room has of each kind, and how many have a facet between seqs. */
import type { Kind } from '@open-presence/protocol';

import { Turns } from '../../fair-turns.ts';
import { facet as facetOf, type Facet } from '../../log/facet.ts';
import type { RoomCount, Seq } from '../../log/log.ts';
import type { EntryRow } from '../log/entry-row.ts';
import type { SeqRange } from '../seq-source.ts';
import { type FacetSources, seqsWith } from './facet-source.ts';
import { type IndexReader, tableOf } from './index-database.ts';
import { anyFacet, IN_ROWS } from './match-query.ts';
import { placeOf } from './matches.ts';
import { type SearchSteps, takeSteps } from './search-steps.ts';

type Counted = Pick<EntryRow, 'seq' | 'room' | 'kind' | 'time' | 'withheld'>;

/** Counts entries that are not withheld. They must be added in the order of the log. */
export class RoomTally {
  readonly #counts = new Map<string, RoomCount>();

  constructor(counts: Iterable<RoomCount> = []) {
    for (const count of counts) this.#counts.set(`${count.kind} ${count.room}`, count);
  }

  add({ room, kind, seq, time, withheld }: Counted): void {
    if (withheld !== undefined) return;
    const key = `${kind} ${room}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { room, kind, count, latest: { seq, time } });
  }

  counts(): RoomCount[] {
    return [...this.#counts.values()];
  }
}

// One statement, so that the counts are those of the position. `time` is that of the row with the greatest seq.
const ALL = `SELECT position, kind, room, sum(count) AS count, max(seq) AS seq, time
  FROM state CROSS JOIN counts GROUP BY kind, room`;

/** Counts all entries up to a head: the index has counted its own, others are counted here once. */
export class RoomCounter {
  readonly #sources: FacetSources;
  #until: Seq = 0;
  /** Entries up to this withholding are not counted. */
  #withheld = 0;
  #tally = new RoomTally();

  constructor(sources: FacetSources) {
    this.#sources = sources;
  }

  counts(head: Seq): readonly RoomCount[] {
    const { shared, log } = this.#sources;
    if (shared.indexed > this.#until || shared.withheld !== this.#withheld) this.#readIndex();
    for (const row of log.rows({ from: this.#until + 1, to: head })) this.#tally.add(row);
    this.#until = Math.max(this.#until, head);
    return this.#tally.counts();
  }

  #readIndex(): void {
    const { shared, index } = this.#sources;
    this.#withheld = shared.withheld;
    // A removed index may still be open.
    const found = shared.indexed > 0 ? index.read(() => index.statement(ALL).all()) : [];
    const rows = found ?? [];
    const counts = rows.map(({ kind, room, count, seq, time }) => ({
      kind: kind as Kind,
      room: String(room),
      count: Number(count),
      latest: { seq: Number(seq), time: Number(time) },
    }));
    this.#tally = new RoomTally(counts);
    this.#until = Number(rows[0]?.['position'] ?? 0);
  }
}

/** Entries that are counted in a step: in the index, and in the log. */
const STEP = 65_536;
const LOG_STEP = 2048;

/** From each bound up to before the next. */
export async function countBetween(
  sources: FacetSources,
  facet: Facet,
  bounds: readonly Seq[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const turns = new Turns(signal);
  const counts: number[] = [];
  for (const [index, low] of bounds.slice(0, -1).entries()) {
    const range = { low, high: (bounds[index + 1] ?? low) - 1 };
    counts.push(await takeSteps(countIn(sources, facet, range), turns, signal));
  }
  return counts;
}

function* countIn(
  sources: FacetSources,
  facet: Facet,
  { low, high }: SeqRange,
): SearchSteps<number> {
  let count = 0;
  for (let at = low; at <= high;) {
    yield;
    const place = placeOf(at, sources.shared);
    const range = { low: at, high: Math.min(high, place.high) };
    const found = countInPart(sources, facet, range, place.part);
    if (found !== undefined) {
      count += found.count;
      at = found.to + 1;
      continue;
    }
    const to = Math.min(range.high, at + LOG_STEP - 1);
    count += (yield* seqsWith(sources, [facet], { from: at, to })).length;
    at = to + 1;
  }
  return count;
}

/** Undefined where the log has to be read in place of the index. */
function countInPart(
  { index, shared }: FacetSources,
  facet: Facet,
  { low, high }: SeqRange,
  part: number | undefined,
): { readonly count: number; readonly to: Seq } | undefined {
  if (part === undefined) return undefined;
  const isWhole = low === shared.firstOf(part) && high === shared.lastOf(part);
  const to = Math.min(high, low + STEP - 1);
  const table = tableOf(part);
  const sql = `SELECT count(*) AS count FROM ${table} WHERE ${table} MATCH ? AND ${IN_ROWS}`;
  return index.read(() => {
    const whole = isWhole ? countAll(index, facet, part) : 0;
    if (whole > 0) return { count: whole, to: high };
    return { count: Number(index.statement(sql).get(anyFacet([facet]), low, to)?.['count']), to };
  });
}

/** The entries of a part, if this is the facet of a kind or room that it has; else 0. */
function countAll(index: IndexReader, facet: Facet, part: number): number {
  const rows = index.statement('SELECT kind, room, count FROM counts WHERE part = ?').all(part);
  const counted = rows.filter(({ kind, room }) =>
    [facetOf('kind', String(kind)), facetOf('room', String(room))].some(
      (one) => Buffer.compare(one, facet) === 0,
    ),
  );
  return counted.reduce((sum, { count }) => sum + Number(count), 0);
}
