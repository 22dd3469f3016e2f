import type { RoomCount, Seq } from '../../../log/log.ts';
import type { RowReader, SeqSpan } from '../log/row-reader.ts';
import type { EntryRow } from '../log/entry-row.ts';
import type { CountsUntil, SharedSegments } from '../shared-segments.ts';

type Counted = Pick<EntryRow, 'seq' | 'room' | 'kind' | 'time' | 'withheld'>;

/** Entries of the log that are counted in a step. */
const STEP = 8192;

/** Counts entries that are not withheld. They must be added in the order of the log. */
export class RoomTally {
  readonly #counts = new Map<string, RoomCount>();

  constructor(counts: Iterable<RoomCount> = []) {
    this.addCounts(counts);
  }

  add({ room, kind, seq, time, withheld }: Counted): void {
    if (withheld === undefined) this.#add({ room, kind, count: 1, latest: { seq, time } });
  }

  /** Counts these entries of the log. Yields between some of them. */
  *addRows(log: RowReader, { from, to }: SeqSpan): Generator<void, void, undefined> {
    for (let at = from; at <= to; at += STEP) {
      for (const row of log.rows({ from: at, to: Math.min(to, at + STEP - 1) })) this.add(row);
      yield;
    }
  }

  addCounts(counts: Iterable<RoomCount>): void {
    for (const count of counts) this.#add(count);
  }

  counts(): RoomCount[] {
    return [...this.#counts.values()];
  }

  #add({ room, kind, count, latest }: RoomCount): void {
    const key = `${kind} ${room}`;
    const found = this.#counts.get(key);
    const isNewer = found === undefined || latest.seq > found.latest.seq;
    const newest = isNewer ? latest : found.latest;
    this.#counts.set(key, { room, kind, count: count + (found?.count ?? 0), latest: newest });
  }
}

/** Counts entries up to a head. Segments count their own; each other entry counts once. */
export class RoomCounter {
  readonly #log: RowReader;
  readonly #segments: SharedSegments;
  /** What the segments said last: once they say something else, entries may be withheld. */
  #known: CountsUntil | undefined;
  #counted: CountsUntil = { until: 0, counts: [] };

  constructor(log: RowReader, segments: SharedSegments) {
    this.#log = log;
    this.#segments = segments;
  }

  counts(head: Seq): readonly RoomCount[] {
    const known = this.#segments.counts;
    if (known !== this.#known) this.#counted = this.#known = known;
    const { until, counts } = this.#counted;
    if (until < head) {
      const tally = new RoomTally(counts);
      for (const row of this.#log.rows({ from: until + 1, to: head })) tally.add(row);
      this.#counted = { until: head, counts: tally.counts() };
    }
    return this.#counted.counts;
  }
}
