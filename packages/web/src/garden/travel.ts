/** A change of the view that takes a moment. */
import { lengthOf, type TimeRange } from './time-view.ts';

/** In ms. */
const DURATION = 450;

export class Travel {
  readonly to: TimeRange;
  readonly #from: TimeRange;
  readonly #started: number;

  constructor(from: TimeRange, to: TimeRange, started: number) {
    this.#from = from;
    this.to = to;
    this.#started = started;
  }

  isOver(now: number): boolean {
    return now - this.#started >= DURATION;
  }

  /** Lengths change by the same factor in each frame. */
  viewAt(now: number): TimeRange {
    if (this.isOver(now)) return this.to;
    const part = Math.max(0, (now - this.#started) / DURATION);
    const eased = part * part * (3 - 2 * part);
    const [first, last] = [lengthOf(this.#from), lengthOf(this.to)];
    const length = first * (last / first) ** eased;
    const share = first === last ? eased : (first - length) / (first - last);
    const from = this.#from.from + (this.to.from - this.#from.from) * share;
    return { from, to: from + length };
  }
}
