/** Where growths stand: across by their time, up and down by their author and kind. Pure. */
import type { GardenEntry } from './garden-data.ts';
import { hashOf, randomFrom } from './growth/random.ts';

/** The picture in CSS pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export interface Place {
  /** From 0 at the far end of the ground to 1 at the near end. Growths in the air have one, too. */
  readonly depth: number;
  /** From the upper edge, in parts of the picture's height. */
  readonly y: number;
  /** The size of a growth there, relative to one at the near end. */
  readonly scale: number;
}

/** Where the ground begins, and where the line of time is, in parts of the height. */
export const HORIZON = 0.44;
export const GROUND_END = 0.9;

/** Whispers and lights are in the air between these heights. */
const AIR: Readonly<Record<'shepit' | 'resonance', readonly [number, number]>> = {
  shepit: [0.28, 0.62],
  resonance: [0.17, 0.38],
};

/** An author's plants stand in a row of their own, each a little in front of it or behind it. */
export function placeOf({ kind, author, id }: Pick<GardenEntry, 'kind' | 'author' | 'id'>): Place {
  const own = randomFrom(hashOf(id));
  if (kind === 'shepit' || kind === 'resonance') {
    const [high, low] = AIR[kind];
    const y = high + (low - high) * own();
    return { depth: own(), y, scale: 0.75 + 0.35 * own() };
  }
  const row = randomFrom(hashOf(`row ${author ?? ''}`))();
  const depth = Math.max(0, Math.min(1, 0.06 + row * 0.88 + (own() - 0.5) * 0.16));
  return { depth, y: groundAt(depth), scale: 0.5 + 0.5 * depth };
}

/** The height of the ground at a depth, in parts of the picture's height. */
function groundAt(depth: number): number {
  return HORIZON + 0.045 + (GROUND_END - 0.02 - HORIZON - 0.045) * depth ** 1.25;
}

/** Pixels of the greatest growth at the near end, when this many growths are in the picture. */
export function unitFor({ width, height }: PictureSize, growths: number): number {
  const share = Math.sqrt((width * height * 0.46) / Math.max(1, growths));
  return Math.max(34, Math.min(height * 0.55, width * 0.5, share * 2.3));
}
