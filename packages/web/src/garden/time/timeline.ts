/**
 * Time as the garden shows it: long silences are folded to one short width, so that a burst and the silence
 * after it both show. A place on it is a number of ms, as a time is. All pure, but for what is stored later.
 */
import type { TimeRange } from '../garden-data.ts';
import { lengthOf } from './time-view.ts';

/** No silence is folded that is shorter, in ms. */
const LEAST_SILENCE = 60_000;
/** A silence that is folded is this many times as long as an average stretch between silences. */
const LEAST_TIMES = 3;
/** An average stretch has at least this many entries. Where they came one by one, no silence stands out. */
const LEAST_ENTRIES = 3;
const MAX_FOLDS = 48;
/** The width of a fold: this part of all other time, all folds together at most that part. In ms at least. */
const WIDTH = 0.08;
const ALL_WIDTHS = 0.5;
const LEAST_WIDTH = 2000;
/** What times lose on the way to a place and back, in ms. */
const ROUNDING = 0.001;

export class Timeline {
  /** In their order. Nothing was stored within them. */
  readonly folds: TimeRange[];
  #newest: number | undefined;
  readonly #width: number;
  /** What is folded later. */
  readonly #least: number;

  /** `silences`: the longest, in any order. `oldest`, `newest`: times of entries. `entries`: how many there are. */
  constructor(
    silences: readonly TimeRange[],
    oldest: number | undefined,
    newest: number | undefined,
    entries: number,
  ) {
    const length = (newest ?? 0) - (oldest ?? 0);
    const folds = foldsOf(silences, length, entries);
    const rest = length - sum(folds);
    this.folds = folds.toSorted((a, b) => a.from - b.from);
    this.#newest = newest;
    const part = Math.min(WIDTH, ALL_WIDTHS / Math.max(1, folds.length));
    this.#width = Math.max(LEAST_WIDTH, rest * part);
    this.#least = Math.max(LEAST_SILENCE, rest / 4);
  }

  /** The place of a time. */
  at(time: number): number {
    let saved = 0;
    for (const fold of this.folds) {
      if (time <= fold.from) break;
      const passed = Math.min(1, (time - fold.from) / lengthOf(fold));
      saved += passed * (lengthOf(fold) - this.#width);
    }
    return time - saved;
  }

  /** The time at a place. */
  timeAt(place: number): number {
    let saved = 0;
    for (const fold of this.folds) {
      const passed = (place + saved - fold.from) / this.#width;
      if (passed <= 0) break;
      saved += Math.min(1, passed) * (lengthOf(fold) - this.#width);
    }
    return place + saved;
  }

  places({ from, to }: TimeRange): TimeRange {
    return { from: this.at(from), to: this.at(to) };
  }

  /** The time between two places, without what is folded. */
  unfolded({ from, to }: TimeRange): TimeRange[] {
    const parts: TimeRange[] = [];
    let start = this.timeAt(from) - ROUNDING;
    const end = this.timeAt(to) + ROUNDING;
    for (const fold of this.folds) {
      if (fold.to <= start || fold.from >= end) continue;
      if (fold.from >= start) parts.push({ from: start, to: fold.from });
      start = fold.to;
    }
    return start <= end ? [...parts, { from: start, to: end }] : parts;
  }

  /** Entries were stored after the newest: what was silence until then may be folded. Earlier places stay. */
  extend(first: number, last: number): void {
    const newest = this.#newest;
    if (newest !== undefined && first - newest >= this.#least)
      this.folds.push({ from: newest, to: first });
    this.#newest = Math.max(newest ?? 0, last);
  }
}

/** The silences that stand out of time: a week between two bursts as well as each night between those of a week. */
function foldsOf(silences: readonly TimeRange[], length: number, entries: number): TimeRange[] {
  const longest = silences
    .filter((silence) => lengthOf(silence) >= LEAST_SILENCE)
    .toSorted((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, MAX_FOLDS);
  const last = longest.findLastIndex((silence, index) => {
    const stretches = index + 2;
    const stretch = (length - sum(longest.slice(0, index + 1))) / stretches;
    return entries >= LEAST_ENTRIES * stretches && lengthOf(silence) >= LEAST_TIMES * stretch;
  });
  return longest.slice(0, last + 1);
}

function sum(ranges: readonly TimeRange[]): number {
  return ranges.reduce((total, range) => total + lengthOf(range), 0);
}

/** The silences between times, and their ends. */
export function timelineOf(times: readonly number[]): Timeline {
  const sorted = times.toSorted((a, b) => a - b);
  const silences = sorted.slice(1).map((to, index) => ({ from: sorted[index] ?? to, to }));
  return new Timeline(silences, sorted[0], sorted.at(-1), sorted.length);
}
