/** Knows which part of time is in view, and moves the view to another. */
import type { Activity, TimeRange } from '../garden-data.ts';
import {
  around,
  kept,
  lengthOf,
  moved,
  positionOf,
  timeAt,
  wholeRange,
  zoomed,
} from './time-view.ts';

const TRAVEL_MS = 450;

interface ViewCallbacks {
  readonly onChange: () => void;
  /** Called when the view begins to travel. From then on, call `follow` with each frame. */
  readonly onTravel: () => void;
}

export class MovingView {
  /** The places of the oldest and the newest entry. All times here are places on the timeline. */
  oldest: number | undefined;
  newest: number | undefined;
  readonly #calm: Pick<MediaQueryList, 'matches'>;
  readonly #callbacks: ViewCallbacks;
  #width = 0;
  #whole: TimeRange;
  #range: TimeRange;
  #travel: Travel | undefined;

  /** `calm`: matches while the view should jump instead of travel. */
  constructor(
    { oldest, newest }: Pick<Activity, 'oldest' | 'newest'>,
    calm: Pick<MediaQueryList, 'matches'>,
    callbacks: ViewCallbacks,
  ) {
    this.oldest = oldest;
    this.newest = newest;
    this.#calm = calm;
    this.#callbacks = callbacks;
    this.#whole = this.#wholeRange();
    this.#range = this.#whole;
  }

  get range(): TimeRange {
    return this.#range;
  }

  has(time: number): boolean {
    return time >= this.#range.from && time <= this.#range.to;
  }

  pan(part: number): void {
    this.#show(moved(this.#range, part, this.#whole));
  }

  /** `position`: the point that stays where it is, from 0 at the left edge to 1. */
  zoom(factor: number, position: number): void {
    this.#show(zoomed(this.#range, factor, timeAt(this.#range, position), this.#whole));
  }

  /** Zooms as a movement. `time`: stays where it is; the middle by default. */
  zoomSmoothly(factor: number, time: number = timeAt(this.#goal, 0.5)): void {
    this.#travelTo(zoomed(this.#goal, factor, time, this.#whole));
  }

  /** The part of time that is shown, or travelled to; undefined for the whole. */
  get part(): TimeRange | undefined {
    return this.#goal.from === this.#whole.from && this.#goal.to === this.#whole.to
      ? undefined
      : this.#goal;
  }

  showPart(range: TimeRange): void {
    this.#show(kept(range, this.#whole));
  }

  showWhole(): void {
    this.#travelTo(this.#whole);
  }

  showNewest(): void {
    const length = Math.min(lengthOf(this.#range), lengthOf(this.#whole) / 8);
    this.#travelTo({ from: this.#whole.to - length, to: this.#whole.to });
  }

  approach(range: TimeRange): void {
    this.#travelTo(around(range, this.#whole));
  }

  /** Travels to a time if it is outside the view, or at its edge. */
  bringIn(time: number): void {
    const goal = this.#goal;
    const position = positionOf(goal, time);
    if (position < 0.04 || position > 0.96)
      this.#travelTo(moved(goal, position - 0.5, this.#whole));
  }

  /** Takes in new entries, given the first and the last of their times. A view at the end stays there. */
  extend(first: number, last: number): void {
    const goal = this.#goal;
    const [isWhole, isAtEnd] = [goal.from === this.#whole.from, goal.to === this.#whole.to];
    this.oldest ??= first;
    this.newest = Math.max(this.newest ?? 0, last);
    this.#whole = this.#wholeRange();
    const { to } = this.#whole;
    if (isWhole && isAtEnd) this.#travelTo(this.#whole);
    else if (isAtEnd) this.#travelTo({ from: to - lengthOf(goal), to });
  }

  /** `width`: of the picture, in CSS pixels. */
  resize(width: number): void {
    const isWhole = this.#range === this.#whole;
    this.#width = width;
    this.#whole = this.#wholeRange();
    if (isWhole) this.#range = this.#whole;
  }

  arrive(): void {
    if (this.#travel !== undefined) this.#show(this.#travel.to);
  }

  /** Moves a view that travels to where it is now. Returns whether it has arrived. */
  follow(now: number): boolean {
    if (this.#travel === undefined) return true;
    this.#range = viewAt(this.#travel, now);
    const isOver = this.#range === this.#travel.to;
    if (isOver) this.#travel = undefined;
    this.#callbacks.onChange();
    return isOver;
  }

  get #goal(): TimeRange {
    return this.#travel?.to ?? this.#range;
  }

  #wholeRange(): TimeRange {
    const oldest = this.oldest ?? Date.now();
    return wholeRange(oldest, this.newest ?? oldest, this.#width);
  }

  #show(range: TimeRange): void {
    this.#travel = undefined;
    this.#range = range;
    this.#callbacks.onChange();
  }

  #travelTo(to: TimeRange): void {
    if (this.#calm.matches) return this.#show(to);
    this.#travel = { from: this.#range, to, started: performance.now() };
    this.#callbacks.onTravel();
  }
}

interface Travel {
  readonly from: TimeRange;
  readonly to: TimeRange;
  readonly started: number;
}

/** Lengths change by the same factor in each frame. */
function viewAt({ from: start, to: end, started }: Travel, now: number): TimeRange {
  const part = (now - started) / TRAVEL_MS;
  if (part >= 1) return end;
  const eased = part <= 0 ? 0 : part * part * (3 - 2 * part);
  const [first, last] = [lengthOf(start), lengthOf(end)];
  const length = first * (last / first) ** eased;
  const share = first === last ? eased : (first - length) / (first - last);
  const from = start.from + (end.from - start.from) * share;
  return { from, to: from + length };
}
