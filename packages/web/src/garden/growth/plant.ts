/**
 * Grows a plant: its species comes from the author, and its growth from the text. Each word is a part
 * of a stem, as long as the word; its letters decide where the stem turns, branches and bears leaves.
 */
import { drawBloom } from './bloom.ts';
import { type Growth, OutlineBuilder, type Point, towards } from './outline.ts';
import { between, hashOf, type Random, randomFrom } from './random.ts';
import { type Leaf, type Species, speciesOf } from './species.ts';

export interface PlantSource {
  readonly author?: string | undefined;
  readonly text: string;
  /** Bytes of the whole entry. */
  readonly size: number;
}

/** Bytes of an entry that its author did not write. */
const OWN_SIZE = 160;

const MAX_PARTS = 130;
/** Later words do not count. */
const MAX_WORDS = 64;
const MAX_BRANCHINGS = 2;

interface Growing {
  readonly species: Species;
  readonly random: Random;
  /** Relative lengths of the parts of a stem. */
  readonly words: readonly number[];
  readonly builder: OutlineBuilder;
  parts: number;
  word: number;
}

interface Stem {
  readonly from: Point;
  /** From straight up, clockwise. */
  readonly angle: number;
  readonly length: number;
  readonly nodes: number;
  readonly branchings: number;
}

/** How much was said: from 0 for a few words to 1 for 3 kB and more. */
export function amountOf({ size }: Pick<PlantSource, 'size'>): number {
  return Math.max(0, Math.min(1, (Math.log2(Math.max(16, size - OWN_SIZE)) - 5) / 6.5));
}

export function growPlant(source: PlantSource): Growth {
  const { author, text } = source;
  const species = speciesOf(author);
  const { habit } = species;
  const random = randomFrom(hashOf(text));
  const growing: Growing = {
    species,
    random,
    words: wordLengths(text),
    builder: new OutlineBuilder(),
    parts: 0,
    word: 0,
  };
  const size = amountOf(source);
  const [least, most] = habit.stems;
  const stems = least + Math.round((most - least) * Math.min(1, size * 0.7 + random() * 0.5));
  const height = 0.34 + 0.5 * size;
  for (let index = 0; index < stems; index += 1) {
    const side = stems === 1 ? 0 : index / (stems - 1) - 0.5;
    growStem(growing, {
      from: { x: side * 0.05, y: 0 },
      angle: side * habit.spread + between(random, -0.1, 0.1),
      length: height * (1 - 0.45 * Math.abs(side)) * between(random, 0.82, 1.05),
      nodes: 3 + Math.round(5 * size),
      branchings: 0,
    });
  }
  return growing.builder.finish();
}

/** The bloom of an author's plants, without the plant. */
export function growBloom(author: string | undefined): Growth {
  const { bloom: form } = speciesOf(author).habit;
  const builder = new OutlineBuilder();
  const size = form === 'spire' ? 0.3 : 0.15;
  drawBloom(builder, randomFrom(7), { form, at: { x: 0, y: 0.2 }, angle: 0, size });
  return builder.finish();
}

function growStem(growing: Growing, stem: Stem): void {
  const { species, random, words, builder } = growing;
  const { habit } = species;
  const outward = stem.angle === 0 ? (random() < 0.5 ? -1 : 1) : Math.sign(stem.angle);
  const lengths = Array.from({ length: stem.nodes }, (_, index) => {
    return words[(growing.word + index) % words.length] ?? 1;
  });
  growing.word += stem.nodes;
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let { from, angle } = stem;
  for (const [index, length] of lengths.entries()) {
    if (growing.parts >= MAX_PARTS) return;
    growing.parts += 1;
    const along = (index + 1) / stem.nodes;
    const before = angle;
    angle += outward * (habit.droop / stem.nodes) * (0.4 + along) + between(random, -0.13, 0.13);
    const part = (length / total) * stem.length;
    const bend = towards(from, before, part * 0.55);
    const to = towards(bend, angle, part * 0.45);
    builder.line('stem', stemWidth(stem, along), from, bend, to);
    growNode(growing, stem, { at: to, angle, along });
    from = to;
  }
  drawBloom(builder, random, {
    form: habit.bloom,
    at: from,
    angle,
    size: habit.bloomSize * (stem.branchings === 0 ? 1 : 0.7),
  });
}

function growNode(
  growing: Growing,
  stem: Stem,
  { at, angle, along }: { readonly at: Point; readonly angle: number; readonly along: number },
): void {
  const { species, random, builder } = growing;
  const { habit, leaf } = species;
  const side = random() < 0.5 ? -1 : 1;
  if (along < 0.98 && habit.leafLength > 0) {
    const size =
      habit.leafLength * (1.15 - 0.75 * along) * between(random, 0.7, 1.15) * (stem.length + 0.25);
    for (const at_side of habit.bloom === 'bud' ? [-1, 1] : [side]) {
      drawLeaf(builder, leaf, { at, angle: angle + at_side * between(random, 0.6, 1.15), size });
    }
  }
  if (along > 0.95 || stem.branchings >= MAX_BRANCHINGS || random() > habit.branching) return;
  growStem(growing, {
    from: at,
    angle: angle - side * habit.branchAngle * between(random, 0.75, 1.2),
    length: stem.length * (1 - along * 0.55) * 0.55,
    nodes: Math.max(2, stem.nodes - 3),
    branchings: stem.branchings + 1,
  });
}

function stemWidth({ branchings }: Stem, along: number): number {
  if (branchings > 0) return along > 0.5 ? 0.006 : 0.008;
  return along > 0.6 ? 0.009 : 0.013;
}

/** Relative lengths of the first words. At least one. */
function wordLengths(text: string): readonly number[] {
  const words = text.trim().split(/\s+/u, MAX_WORDS);
  return words.map((word) => 4 + Math.min(12, word.length));
}

/** Width of a leaf, and where it is widest, in parts of its length. */
const FORMS: Readonly<Record<Leaf, readonly [width: number, widest: number]>> = {
  lance: [0.2, 0.45],
  oval: [0.36, 0.55],
  heart: [0.5, 0.35],
  needle: [0.09, 0.4],
};

interface LeafPlace {
  readonly at: Point;
  /** From straight up, clockwise. */
  readonly angle: number;
  readonly size: number;
}

function drawLeaf(builder: OutlineBuilder, form: Leaf, { at, angle, size }: LeafPlace): void {
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
