/** Draws the bloom at the end of a stem, in the form of its species. */
import { type OutlineBuilder, type Point, towards } from './outline.ts';
import { between, type Random } from './random.ts';
import type { Bloom } from './species.ts';

export interface BloomPlace {
  readonly form: Bloom;
  readonly at: Point;
  /** The angle of the stem, from straight up, clockwise. */
  readonly angle: number;
  readonly size: number;
}

export function drawBloom(builder: OutlineBuilder, random: Random, place: BloomPlace): void {
  FORMS[place.form](builder, random, { ...place, size: place.size * between(random, 0.85, 1.15) });
}

type DrawBloom = (builder: OutlineBuilder, random: Random, place: BloomPlace) => void;

const FORMS: Readonly<Record<Bloom, DrawBloom>> = {
  star(builder, random, { at, angle, size }) {
    const petals = 7 + Math.floor(random() * 5);
    for (let index = 0; index < petals; index += 1) {
      drawPetal(builder, at, {
        angle: angle + (index / petals) * 2 * Math.PI,
        length: size,
        width: 0.24,
      });
    }
    builder.dot('core', at, size * 0.3);
  },
  umbel(builder, random, { at, angle, size }) {
    const rays = 7 + Math.floor(random() * 4);
    for (let index = 0; index < rays; index += 1) {
      const turn = (index / (rays - 1) - 0.5) * 1.9;
      const end = towards(at, angle * 0.5 + turn, size * (1 - 0.16 * Math.abs(turn)));
      builder.line('stem', 0.005, at, towards(at, angle, size * 0.4), end);
      for (const spot of [-1, 0, 1]) {
        const petal = towards(end, turn + spot * 1.2, spot === 0 ? size * 0.06 : size * 0.13);
        builder.dot('petal', petal, size * between(random, 0.055, 0.085));
      }
    }
  },
  bell(builder, _, { at, angle, size }) {
    const down = Math.max(-2.7, Math.min(2.7, angle * 1.3));
    for (const [turn, width] of [
      [0, 0.5],
      [-0.32, 0.24],
      [0.32, 0.24],
    ] as const) {
      drawPetal(builder, at, { angle: down + turn, length: size * 1.15, width });
    }
    builder.dot('core', towards(at, down, size * 1.02), size * 0.12);
  },
  globe(builder, random, { at, angle, size }) {
    const rays = 22;
    const middle = towards(at, angle, size * 0.55);
    for (let index = 0; index < rays; index += 1) {
      const end = towards(
        middle,
        index * 2.399_963,
        size * Math.sqrt((index + 1) / rays) * between(random, 0.82, 1),
      );
      builder.line('petal', 0.006, middle, middle, end);
      builder.dot('petal', end, size * 0.085);
    }
    builder.dot('core', middle, size * 0.12);
  },
  cup(builder, _, { at, angle, size }) {
    for (const [turn, width, length] of [
      [-0.36, 0.3, 1.1],
      [0.36, 0.3, 1.1],
      [0, 0.42, 1.2],
    ] as const) {
      drawPetal(builder, at, { angle: angle + turn, length: size * length, width });
    }
  },
  spire(builder, random, { at, angle, size }) {
    const florets = 13;
    for (let index = 0; index < florets; index += 1) {
      const along = index / florets;
      const middle = towards(at, angle, size * (along - 0.55));
      const side = index % 2 === 0 ? 1 : -1;
      const place = towards(middle, angle + side * 1.3, size * 0.13 * (1 - along * 0.8));
      builder.dot('petal', place, size * (0.075 - 0.045 * along) * between(random, 0.85, 1.2));
    }
  },
  bud(builder, _, { at, angle, size }) {
    builder.dot('petal', towards(at, angle, size * 0.4), size * 0.62);
    builder.dot('core', towards(at, angle, size * 0.5), size * 0.24);
  },
};

interface Petal {
  readonly angle: number;
  readonly length: number;
  /** In parts of the length. */
  readonly width: number;
}

function drawPetal(builder: OutlineBuilder, at: Point, { angle, length, width }: Petal): void {
  const tip = towards(at, angle, length);
  const middle = towards(at, angle, length * 0.62);
  const [across, up] = [Math.cos(angle) * width * length, -Math.sin(angle) * width * length];
  builder.blade('petal', at, tip, [
    { x: middle.x + across, y: middle.y + up },
    { x: middle.x - across, y: middle.y - up },
  ]);
}
