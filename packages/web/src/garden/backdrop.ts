/** The land behind the growths, as path data: the same on the server and in the canvas. */
import { HORIZON, type PictureSize } from './place.ts';

interface Ridge {
  /** In parts of the picture's height. */
  readonly y: number;
  readonly waves: readonly (readonly [height: number, length: number, start: number])[];
}

const RIDGES: readonly Ridge[] = [
  {
    y: HORIZON - 0.055,
    waves: [
      [0.035, 0.9, 0.6],
      [0.014, 0.31, 2.1],
      [0.005, 0.11, 0.4],
    ],
  },
  {
    y: HORIZON - 0.005,
    waves: [
      [0.026, 1.25, 3.4],
      [0.011, 0.42, 1.2],
      [0.004, 0.13, 2.8],
    ],
  },
  {
    y: HORIZON + 0.045,
    waves: [
      [0.016, 1.7, 5.1],
      [0.008, 0.55, 0.2],
    ],
  },
  {
    y: HORIZON + 0.24,
    waves: [
      [0.022, 1.4, 1.9],
      [0.01, 0.5, 4.2],
    ],
  },
];

/** From far to near: two ridges of hills, the ground, and its near half. */
export function landOf({ width, height }: PictureSize): string[] {
  return RIDGES.map(({ y, waves }) => {
    const points = Array.from({ length: 61 }, (_, index) => {
      const across = index / 60;
      const up = waves.reduce((sum, [size, length, start]) => {
        return sum + size * Math.sin((across / length) * 2 * Math.PI + start);
      }, 0);
      return `${Math.round(across * width)} ${Math.round((y - up) * height)}`;
    });
    return `M0 ${height}L${points.join('L')}L${width} ${height}Z`;
  });
}
