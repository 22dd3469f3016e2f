/** Growths as bitmaps: each is drawn once for a size, so that hundreds of them can move in every frame. */
import { coloursOf, type Daytime } from '../colours.ts';
import type { GardenEntry } from '../garden-data.ts';
import { grow } from '../growth/grow.ts';
import { type Growth, GREATEST, type Outline } from '../growth/outline.ts';
import type { Hues } from '../main-authors.ts';

/** A bitmap is drawn again once it would be shown this many times larger or smaller. */
const TOLERANCE = 1.15;
/** Device pixels of all bitmaps together: about 80 MB. */
const MAX_PIXELS = 20_000_000;
/** Space around a growth in device pixels, for the width of lines. */
const PADDING = 3;

interface Sprite {
  readonly bitmap: HTMLCanvasElement;
  /** Device pixels of the bitmap to each unit of the growth. */
  readonly scale: number;
  /** Where the growth stands in the bitmap. */
  readonly x: number;
  readonly y: number;
}

export class Sprites {
  readonly #sprites = new Map<GardenEntry, Sprite>();
  readonly #growths = new WeakMap<GardenEntry, Growth>();
  #pixels = 0;
  #daytime: Daytime = 'day';
  #hues: Hues = new Map();

  setDaytime(daytime: Daytime): void {
    if (daytime === this.#daytime) return;
    this.#daytime = daytime;
    this.#clear();
  }

  growthOf(entry: GardenEntry): Growth {
    let growth = this.#growths.get(entry);
    if (growth === undefined) {
      growth = grow(entry.kind, entry);
      this.#growths.set(entry, growth);
    }
    return growth;
  }

  /** Colours that authors have in this picture. */
  setHues(hues: Hues): void {
    this.#hues = hues;
    this.#clear();
  }

  /** `unit`: device pixels of the greatest growth. `mayDraw`: whether there is time to draw a bitmap now. */
  find(entry: GardenEntry, unit: number, mayDraw: boolean): { sprite?: Sprite; isSharp: boolean } {
    const scale = unit / GREATEST;
    const found = this.#sprites.get(entry);
    const isSharp =
      found !== undefined && Math.max(scale / found.scale, found.scale / scale) <= TOLERANCE;
    if (isSharp || !mayDraw) return { ...(found && { sprite: found }), isSharp };
    if (this.#pixels > MAX_PIXELS) this.#clear();
    const sprite = this.#draw(entry, scale);
    this.#sprites.set(entry, sprite);
    this.#pixels += sprite.bitmap.width * sprite.bitmap.height;
    return { sprite, isSharp: true };
  }

  #clear(): void {
    this.#sprites.clear();
    this.#pixels = 0;
  }

  #draw(entry: GardenEntry, scale: number): Sprite {
    const growth = this.growthOf(entry);
    const bitmap = document.createElement('canvas');
    const x = Math.ceil(growth.reach * scale) + PADDING;
    const y = Math.ceil(growth.height * scale) + PADDING;
    bitmap.width = 2 * x;
    bitmap.height = y + Math.ceil(0.03 * GREATEST * scale) + PADDING;
    const context = bitmap.getContext('2d');
    if (context !== null) {
      context.translate(x, y);
      context.scale(scale, scale);
      context.lineCap = 'round';
      if (entry.kind === 'garden' || entry.kind === 'seeds') drawShadow(context, growth);
      const colours = coloursOf(entry.author, this.#daytime, this.#hues);
      for (const outline of growth.outlines) {
        const colour = colours(outline.tone);
        if (outline.tone === 'glow') drawGlow(context, growth, colour);
        else drawOutline(context, outline, colour);
      }
    }
    return { bitmap, scale, x, y };
  }
}

function drawOutline(
  context: CanvasRenderingContext2D,
  { path, width }: Outline,
  colour: string,
): void {
  const shape = new Path2D(path);
  if (width === undefined) {
    context.fillStyle = colour;
    // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- A canvas, no array.
    context.fill(shape);
    return;
  }
  context.strokeStyle = colour;
  // Thinner lines than this would vanish.
  context.lineWidth = Math.max(width, 0.7 / context.getTransform().a);
  context.stroke(shape);
}

function drawShadow(context: CanvasRenderingContext2D, { reach }: Growth): void {
  context.fillStyle = 'rgb(0 0 0 / 0.1)';
  context.beginPath();
  context.ellipse(0, 6, 20 + reach * 0.32, 16, 0, 0, 2 * Math.PI);
  context.fill();
}

function drawGlow(context: CanvasRenderingContext2D, { reach }: Growth, colour: string): void {
  const gradient = context.createRadialGradient(0, -reach, 0, 0, -reach, reach);
  gradient.addColorStop(0, colour.replace(/ \/ .*$/, ' / 0.75)'));
  gradient.addColorStop(0.3, colour);
  gradient.addColorStop(1, colour.replace(/ \/ .*$/, ' / 0)'));
  context.fillStyle = gradient;
  context.fillRect(-reach, -2 * reach, 2 * reach, 2 * reach);
}
