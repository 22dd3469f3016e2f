/** The part of time that the picture shows, and where times are in it. All pure. */

import type { TimeRange } from '../garden-data.ts';

/** The shortest view, in ms: in it, even entries of the same millisecond can be told apart. */
const SHORTEST = 0.2;
/** Length of the view, in ms, if all entries have the same time. */
const MOMENT = 60_000;
/** Margins beside the oldest and the newest entry: a part of the range, or CSS pixels if that is more. */
const MARGIN = 0.08;
const LEAST_MARGIN = 70;

export function lengthOf({ from, to }: TimeRange): number {
  return to - from;
}

/** The range from the oldest to the newest entry with a margin on both sides. */
export function wholeRange(oldest: number, newest: number, width: number): TimeRange {
  const part = Math.min(0.25, Math.max(MARGIN, LEAST_MARGIN / Math.max(1, width)));
  const margin = newest > oldest ? Math.max((newest - oldest) * part, 1) : MOMENT / 2;
  return { from: oldest - margin, to: newest + margin };
}

/** Where a time is, from 0 at the left edge to 1 at the right one. */
export function positionOf(view: TimeRange, time: number): number {
  return (time - view.from) / lengthOf(view);
}

export function timeAt(view: TimeRange, position: number): number {
  return view.from + position * lengthOf(view);
}

/** Makes the view `factor` times as long, and keeps a time where it is. */
export function zoomed(view: TimeRange, factor: number, time: number, whole: TimeRange): TimeRange {
  const longest = Math.max(lengthOf(whole), SHORTEST);
  const length = Math.max(SHORTEST, Math.min(longest, lengthOf(view) * factor));
  const from = time - positionOf(view, time) * length;
  return kept({ from, to: from + length }, whole);
}

export function moved(view: TimeRange, by: number, whole: TimeRange): TimeRange {
  const shift = by * lengthOf(view);
  return kept({ from: view.from + shift, to: view.to + shift }, whole);
}

export function around(range: TimeRange, whole: TimeRange): TimeRange {
  const length = Math.max(lengthOf(range) * 1.4, SHORTEST);
  const middle = (range.from + range.to) / 2;
  return kept({ from: middle - length / 2, to: middle + length / 2 }, whole);
}

export function kept(view: TimeRange, whole: TimeRange): TimeRange {
  if (lengthOf(view) >= lengthOf(whole)) return whole;
  const shift = Math.max(0, whole.from - view.from) + Math.min(0, whole.to - view.to);
  return { from: view.from + shift, to: view.to + shift };
}
