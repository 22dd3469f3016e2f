/** Turns an entry into its growth. Pure: an entry has the same growth on every device. */
import type { Kind } from '@open-presence/protocol';

import { type Growth, OutlineBuilder, type Point, towards } from './outline.ts';
import { amountOf, growPlant, type PlantSource } from './plant.ts';
import { between, hashOf, randomFrom } from './random.ts';

const BY_KIND: Readonly<Record<Kind, (source: PlantSource) => Growth>> = {
  resonance: growLight,
  garden: growPlant,
  seeds: growSeed,
  shepit: growWhisper,
};

export function grow(kind: Kind, source: PlantSource): Growth {
  return BY_KIND[kind](source);
}

/** A seed with its seams. The seed of a long entry has its first leaves. */
function growSeed(source: PlantSource): Growth {
  const { text } = source;
  const random = randomFrom(hashOf(text));
  const builder = new OutlineBuilder();
  const length = 0.12 + 0.06 * amountOf(source);
  const lean = between(random, 0.7, 1.4) * (random() < 0.5 ? -1 : 1);
  const plump = between(random, 0.45, 0.75);
  const from = { x: -Math.sin(lean) * length * 0.5, y: 0.01 };
  const to = towards(from, lean, length);
  const middle = towards(from, lean, length * 0.42);
  const [across, up] = [Math.cos(lean) * length * plump, -Math.sin(lean) * length * plump];
  const bends = [
    { x: middle.x + across, y: middle.y + up },
    { x: middle.x - across, y: Math.max(-0.02, middle.y - up) },
  ] as const;
  builder.blade('petal', from, to, bends);
  for (const seam of [0.15, -0.2]) {
    const bend = { x: middle.x + across * seam, y: middle.y + up * seam };
    builder.line(
      'core',
      0.006,
      towards(from, lean, length * 0.12),
      bend,
      towards(from, lean, length * 0.9),
    );
  }
  if (amountOf(source) > 0.45) growSprout(builder, to, lean);
  return builder.finish();
}

function growSprout(builder: OutlineBuilder, from: Point, lean: number): void {
  const top = towards(from, lean * 0.2, 0.12);
  builder.line('stem', 0.008, from, towards(from, lean, 0.06), top);
  for (const side of [-1, 1]) {
    const tip = towards(top, side * 1.1, 0.07);
    builder.blade('leaf', top, tip, [
      towards(top, side * 0.6, 0.055),
      towards(top, side * 1.7, 0.04),
    ]);
  }
}

/** A parachute of fine hairs above a seed, like a dandelion's. */
function growWhisper(source: PlantSource): Growth {
  const { text } = source;
  const random = randomFrom(hashOf(text));
  const builder = new OutlineBuilder();
  const hairs = 9 + Math.round(8 * amountOf(source));
  const lean = between(random, -0.35, 0.35);
  const from = { x: 0, y: 0.02 };
  const top = towards(from, lean, between(random, 0.13, 0.19));
  builder.line('stem', 0.005, from, towards(from, 0, 0.07), top);
  builder.blade('petal', { x: 0, y: 0 }, towards(from, lean, 0.045), [
    { x: 0.014, y: 0.02 },
    { x: -0.014, y: 0.02 },
  ]);
  for (let index = 0; index < hairs; index += 1) {
    const angle = lean + (index / (hairs - 1) - 0.5) * 2.6;
    const length = between(random, 0.1, 0.14);
    const end = towards(top, angle, length);
    builder.line('petal', 0.004, top, towards(top, angle * 0.75, length * 0.6), end);
    builder.dot('petal', end, 0.008);
  }
  return builder.finish();
}

/** A light with two or three rings around it. */
function growLight({ text }: PlantSource): Growth {
  const random = randomFrom(hashOf(text));
  const builder = new OutlineBuilder();
  const middle = { x: 0, y: 0.14 };
  builder.dot('glow', middle, 0.14);
  builder.dot('petal', middle, between(random, 0.022, 0.03));
  builder.dot('core', middle, 0.015);
  const rings = 2 + Math.floor(random() * 2);
  for (let ring = 1; ring <= rings; ring += 1) {
    builder.ring('ring', 0.004, middle, 0.03 + ring * between(random, 0.022, 0.03));
  }
  return builder.finish();
}
