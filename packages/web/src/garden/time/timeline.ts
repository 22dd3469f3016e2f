/**
 * Time as the garden shows it: long silences are folded to one short width, so that a burst and the silence
 * after it both show. A place on the timeline is a number of ms, like a time. All pure, except that `extend`
 * takes in later entries.
 */
import type { TimeRange } from '../garden-data.ts';
import { lengthOf } from './time-view.ts';

/** A shorter silence is never folded. In ms. */
const LEAST_SILENCE = 60_000;
/** A folded silence is at least this many times as long as the average range between silences. */
const LEAST_TIMES = 3;
/**
 * Folds only if the average range between them has at least this many entries. Between entries that come one
 * by one, no silence stands out.
 */
const LEAST_ENTRIES = 3;
const MAX_FOLDS = 48;
/**
 * Width of a fold: `WIDTH` of the unfolded time, with many folds less, so that all together have at most
 * `ALL_WIDTHS` of it. A fold has at least `LEAST_WIDTH` ms.
 */
const WIDTH = 0.08;
const ALL_WIDTHS = 0.5;
const LEAST_WIDTH = 2000;
/** Error of a time that is turned into a place and back, in ms. */
const ROUNDING = 0.001;

export class Timeline {
  /** In the order of time. Nothing was stored within them. */
  readonly folds: TimeRange[];
  #newest: number | undefined;
  readonly #width: number;
  /** The shortest silence that `extend` folds, in ms. */
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

  at(time: number): number {
    let saved = 0;
    for (const fold of this.folds) {
      if (time <= fold.from) break;
      const passed = Math.min(1, (time - fold.from) / lengthOf(fold));
      saved += passed * (lengthOf(fold) - this.#width);
    }
    return time - saved;
  }

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

  /** The ranges of time between two places, without folds. */
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

  /** Takes in new entries, and folds the silence before them if it is long. Earlier places stay. */
  extend(first: number, last: number): void {
    const newest = this.#newest;
    if (newest !== undefined && first - newest >= this.#least)
      this.folds.push({ from: newest, to: first });
    this.#newest = Math.max(newest ?? 0, last);
  }
}

/** The silences that stand out: a week between two bursts, but also each night between daily bursts. */
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

export function timelineOf(times: readonly number[]): Timeline {
  const sorted = times.toSorted((a, b) => a - b);
  const silences = sorted.slice(1).map((to, index) => ({ from: sorted[index] ?? to, to }));
  return new Timeline(silences, sorted[0], sorted.at(-1), sorted.length);
}
