import type { OutlineBuilder, Point } from './outline.ts';
import type { Leaf } from './species.ts';

/** Width of a leaf, and where it is widest, in parts of its length. */
const FORMS: Readonly<Record<Leaf, readonly [width: number, widest: number]>> = {
  lance: [0.2, 0.45],
  oval: [0.36, 0.55],
  heart: [0.5, 0.35],
  needle: [0.09, 0.4],
};

export interface LeafPlace {
  readonly at: Point;
  /** From straight up, clockwise. */
  readonly angle: number;
  readonly size: number;
}

export function drawLeaf(
  builder: OutlineBuilder,
  form: Leaf,
  { at, angle, size }: LeafPlace,
): void {
  const [width, widest] = FORMS[form];
  const along = { x: Math.sin(angle) * size, y: Math.cos(angle) * size };
  const across = { x: along.y * width, y: -along.x * width };
  const middle = { x: at.x + along.x * widest, y: at.y + along.y * widest };
  // A leaf bends down at its tip.
  const tip = { x: at.x + along.x, y: at.y + along.y - size * 0.12 };
  builder.blade('leaf', at, tip, [
    { x: middle.x + across.x, y: middle.y + across.y },
    { x: middle.x - across.x, y: middle.y - across.y },
  ]);
}
