/** Builds the outlines of a growth as SVG path data, which a canvas takes too. */

/** The part of a growth that a path draws, which decides its colour. */
export type Tone = 'stem' | 'leaf' | 'petal' | 'ring' | 'core' | 'glow';

export interface Outline {
  readonly tone: Tone;
  /** Path data. Units are thousandths of the greatest height; y grows downwards, from 0 at the ground. */
  readonly path: string;
  /** The width of a line. A path without it is filled. */
  readonly width?: number;
}

/** No growth is higher, or reaches farther to either side. */
export const GREATEST = 1000;

export interface Growth {
  readonly outlines: readonly Outline[];
  readonly height: number;
  readonly reach: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Collects paths by their tone and width. Coordinates are in parts of the greatest height, y upwards. */
export class OutlineBuilder {
  readonly #paths = new Map<string, { tone: Tone; width: number; parts: string[] }>();
  #height = 0;
  #reach = 0;

  line(tone: Tone, width: number, from: Point, bend: Point, to: Point): void {
    this.#add(tone, width, `M${this.#at(from)}Q${this.#at(bend)} ${this.#at(to)}`);
  }

  blade(tone: Tone, from: Point, to: Point, bends: readonly [Point, Point]): void {
    const [left, right] = bends;
    const there = `M${this.#at(from)}Q${this.#at(left)} ${this.#at(to)}`;
    this.#add(tone, 0, `${there}Q${this.#at(right)} ${this.#at(from)}Z`);
  }

  dot(tone: Tone, middle: Point, radius: number): void {
    this.ring(tone, 0, middle, radius);
  }

  ring(tone: Tone, width: number, { x, y }: Point, radius: number): void {
    const size = Math.max(1, Math.round(radius * GREATEST));
    const left = this.#at({ x: x - radius, y });
    this.#at({ x: x + radius, y: y + radius });
    const there = `M${left}a${size} ${size} 0 1 0 ${2 * size} 0`;
    this.#add(tone, width, `${there}a${size} ${size} 0 1 0 ${-2 * size} 0Z`);
  }

  finish(): Growth {
    const order: readonly Tone[] = ['glow', 'ring', 'stem', 'leaf', 'petal', 'core'];
    const outlines = [...this.#paths.values()]
      .toSorted((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
      .map(({ tone, width, parts }) => {
        return { tone, path: parts.join(''), ...(width === 0 ? {} : { width }) };
      });
    return { outlines, height: this.#height, reach: this.#reach };
  }

  #add(tone: Tone, width: number, path: string): void {
    const units = width === 0 ? 0 : Math.max(2, Math.round(width * GREATEST));
    const key = `${tone} ${units}`;
    const found = this.#paths.get(key);
    if (found === undefined) this.#paths.set(key, { tone, width: units, parts: [path] });
    else found.parts.push(path);
  }

  #at({ x, y }: Point): string {
    const [across, up] = [bounded(x * GREATEST), bounded(y * GREATEST)];
    this.#height = Math.max(this.#height, up);
    this.#reach = Math.max(this.#reach, Math.abs(across));
    return `${across} ${-up}`;
  }
}

/** `angle`: from straight up, clockwise. */
export function towards({ x, y }: Point, angle: number, length: number): Point {
  return { x: x + Math.sin(angle) * length, y: y + Math.cos(angle) * length };
}

function bounded(value: number): number {
  return Math.round(Math.max(-GREATEST, Math.min(GREATEST, value))) + 0;
}
