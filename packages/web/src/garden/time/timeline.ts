/**
 * Time as the garden shows it: long silences are folded to one short width, so that a burst and the silence
 * after it both show. A place on it is a number of ms, as a time is. All pure, but for what is stored later.
 */
import type { TimeRange } from '../garden-data.ts';
import { lengthOf } from './time-view.ts';

/** A silence is folded if it is longer than this, in ms, and than this part of all other time that is shown. */
const LEAST_SILENCE = 60_000;
const LEAST_SHARE = 0.2;
const MAX_FOLDS = 16;
/** The width of a fold: this part of all other time, or ms where there is none. */
const WIDTH = 0.08;
const LEAST_WIDTH = 2000;

export class Timeline {
  /** In their order. Nothing was stored within them. */
  readonly folds: TimeRange[];
  #newest: number | undefined;
  readonly #width: number;

  /** `silences`: the longest, in any order. The others are those of the oldest and the newest entry. */
  constructor(
    silences: readonly TimeRange[],
    oldest: number | undefined,
    newest: number | undefined,
  ) {
    let rest = (newest ?? 0) - (oldest ?? 0);
    const folds: TimeRange[] = [];
    for (const silence of silences.toSorted((a, b) => lengthOf(b) - lengthOf(a))) {
      const left = rest - lengthOf(silence);
      const least = Math.max(LEAST_SILENCE, LEAST_SHARE * left);
      if (folds.length === MAX_FOLDS || lengthOf(silence) < least) break;
      folds.push(silence);
      rest = left;
    }
    this.folds = folds.toSorted((a, b) => a.from - b.from);
    this.#newest = newest;
    this.#width = Math.max(LEAST_WIDTH, rest * WIDTH);
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
    let start = this.timeAt(from);
    const end = this.timeAt(to);
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
    const least = Math.max(LEAST_SILENCE, (LEAST_SHARE / WIDTH) * this.#width);
    if (newest !== undefined && first - newest >= least)
      this.folds.push({ from: newest, to: first });
    this.#newest = Math.max(newest ?? 0, last);
  }
}

/** The silences between times, and their ends. */
export function timelineOf(times: readonly number[]): Timeline {
  const sorted = times.toSorted((a, b) => a - b);
  const silences = sorted.slice(1).map((to, index) => ({ from: sorted[index] ?? to, to }));
  return new Timeline(silences, sorted[0], sorted.at(-1));
}
