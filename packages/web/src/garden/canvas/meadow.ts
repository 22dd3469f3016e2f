/** Draws each dense span as a meadow: the more entries it has, the more blades, seeds and lights. */
import type { Kind } from '@open-presence/protocol';

import { coloursOf, type Daytime } from '../colours.ts';
import { hashOf, type Random, randomFrom } from '../growth/random.ts';
import type { Hues } from '../main-authors.ts';
import { groundAt, type PictureSize } from '../place.ts';
import type { SceneMeadow } from '../scene.ts';
import { MAX_SINGLE } from '../time/tile.ts';
import type { TimeRange } from '../garden-data.ts';
import { positionOf } from '../time/time-view.ts';

export interface MeadowPicture {
  readonly view: TimeRange;
  readonly size: PictureSize;
  readonly daytime: Daytime;
  readonly hues: Hues;
}

/** Blades of the sparsest meadow of 40 pixels, and how many each doubling of its entries adds. */
const FEWEST_BLADES = 36;
const BLADES_PER_DOUBLING = 16;
/** A span gets no more blades beyond this many times 40 pixels of width. */
const MAX_SHARE = 2;
/** Depths that are drawn one after the other, from far to near. */
const ROWS = 4;

/** Paths of one colour are drawn together. */
type Batches = Map<string, { readonly path: Path2D; readonly filled: boolean }>;

interface Blade {
  readonly x: number;
  readonly y: number;
  readonly height: number;
  readonly colours: Colours;
}

type Colours = Readonly<Record<'leaf' | 'petal' | 'glow' | 'core', string>>;

export function drawMeadows(
  context: CanvasRenderingContext2D,
  meadows: readonly SceneMeadow[],
  picture: MeadowPicture,
): void {
  const rows = Array.from({ length: ROWS }, (): Batches => new Map());
  for (const meadow of meadows) addMeadow(rows, meadow, picture);
  context.lineCap = 'round';
  // Keeps the single growths visible in front of the meadow.
  context.globalAlpha = 0.8;
  for (const [index, row] of rows.entries()) {
    context.lineWidth = 0.6 + index * 0.15;
    for (const [key, { path, filled }] of row) {
      const colour = key.replace(/^\w+ /, '');
      if (filled) context.fillStyle = colour;
      else context.strokeStyle = colour;
      if (filled) context.fill(path);
      else context.stroke(path);
    }
  }
}

/** A span keeps the same blades however the view moves. */
function addMeadow(rows: readonly Batches[], meadow: SceneMeadow, picture: MeadowPicture): void {
  const { view, size } = picture;
  const left = positionOf(view, meadow.places.from) * size.width;
  const width = positionOf(view, meadow.places.to) * size.width - left;
  if (left > size.width || left + width < 0) return;
  const random = randomFrom(hashOf(`${meadow.from}`));
  const palette = coloursIn(meadow, picture);
  const doublings = Math.log2(meadow.total / MAX_SINGLE);
  // While closer tiles are loading, a span can be wider than usual.
  const share = Math.min(MAX_SHARE, width / 40);
  const blades = Math.round((FEWEST_BLADES + BLADES_PER_DOUBLING * doublings) * share);
  const tall = size.height * (0.026 + 0.0045 * Math.min(12, doublings));
  for (let index = 0; index < blades; index += 1) {
    const kind = kindAt(meadow, random());
    const depth = random();
    const row = rows[Math.min(ROWS - 1, Math.floor(depth * ROWS))];
    const colours = palette[Math.floor(random() * palette.length)];
    if (row === undefined || colours === undefined) continue;
    const blade = {
      x: left + width * (random() * 1.16 - 0.08),
      y: groundAt(depth) * size.height,
      height: tall * (0.5 + 0.8 * random()) * (0.6 + 0.5 * depth),
      colours,
    };
    BY_KIND[kind](row, blade, random, picture);
  }
}

function coloursIn({ samples }: SceneMeadow, { daytime, hues }: MeadowPicture): Colours[] {
  const authors = samples.length === 0 ? [undefined] : samples.map(({ author }) => author);
  return authors.map((author) => {
    const tone = coloursOf(author, daytime, hues);
    return { leaf: tone('leaf'), petal: tone('petal'), glow: tone('glow'), core: tone('core') };
  });
}

type DrawBlade = (row: Batches, blade: Blade, random: Random, picture: MeadowPicture) => void;

const BY_KIND: Readonly<Record<Kind, DrawBlade>> = {
  garden(row, { x, y, height, colours }, random) {
    const lean = (random() - 0.5) * height * 0.7;
    const half = Math.max(0.45, height * 0.026);
    const stem = pathOf(row, colours.leaf, true);
    const bend = [x + lean * 0.15, y - height * 0.6] as const;
    stem.moveTo(x - half, y);
    stem.quadraticCurveTo(bend[0] - half, bend[1], x + lean, y - height);
    stem.quadraticCurveTo(bend[0] + half, bend[1], x + half, y);
    if (random() < 0.5) return;
    const bloom = pathOf(row, colours.petal, true);
    addDot(bloom, x + lean, y - height, 1.1 + 1.3 * random());
  },
  seeds(row, { x, y, height, colours }) {
    addDot(pathOf(row, colours.petal, true), x, y, 1.2 + height * 0.02);
  },
  shepit(row, { x, height, colours }, random, { size }) {
    const y = size.height * (0.3 + 0.32 * random());
    const hairs = pathOf(row, colours.petal, false);
    for (const side of [-0.9, -0.3, 0.3, 0.9]) {
      hairs.moveTo(x, y);
      hairs.lineTo(x + Math.sin(side) * height * 0.13, y - Math.cos(side) * height * 0.13);
    }
  },
  resonance(row, { x, height, colours }, random, { size }) {
    const y = size.height * (0.08 + 0.26 * random());
    addDot(pathOf(row, colours.glow, true), x, y, 2 + height * 0.1);
    addDot(pathOf(row, colours.core, true), x, y, 1);
  },
};

function pathOf(row: Batches, colour: string, filled: boolean): Path2D {
  const key = `${filled ? 'fill' : 'line'} ${colour}`;
  let batch = row.get(key);
  if (batch === undefined) {
    batch = { path: new Path2D(), filled };
    row.set(key, batch);
  }
  return batch.path;
}

function addDot(path: Path2D, x: number, y: number, radius: number): void {
  path.moveTo(x + radius, y);
  path.arc(x, y, radius, 0, 2 * Math.PI);
}

/** The kind of an entry of the meadow, chosen by a number from 0 to 1. */
function kindAt({ counts, total }: SceneMeadow, chosen: number): Kind {
  let left = chosen * total;
  for (const [kind, count] of Object.entries(counts)) {
    left -= count;
    if (left < 0) return kind as Kind;
  }
  return 'garden';
}
