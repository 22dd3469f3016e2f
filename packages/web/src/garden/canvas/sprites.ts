/** Growths as bitmaps: each is drawn once for a size, so that hundreds of them can move in every frame. */
import { coloursOf, type Daytime } from '../colours.ts';
import type { GardenEntry } from '../garden-data.ts';
import { grow } from '../growth/grow.ts';
import { type Growth, GREATEST, type Outline } from '../growth/outline.ts';
import type { Hues } from '../main-authors.ts';

/** A bitmap is drawn again once it would be shown this many times larger or smaller. */
const MOVING_TOLERANCE = 1.4;
const SETTLED_TOLERANCE = 1.02;
/** Device pixels of all bitmaps together: about 80 MB. */
const MAX_PIXELS = 20_000_000;
/** Space around a growth in device pixels, for the width of lines. */
const PADDING = 3;

export interface Sprite {
  readonly bitmap: HTMLCanvasElement;
  /** Device pixels of the bitmap to each unit of the growth. */
  readonly scale: number;
  /** The hue of its blooms; undefined for the species' own hue. */
  readonly hue: number | undefined;
  /** Where the growth stands in the bitmap. */
  readonly x: number;
  readonly y: number;
}

export interface SpriteRequest {
  readonly isMoving: boolean;
  readonly mayDraw: boolean;
  readonly hues: Hues;
}

export interface FoundSprite {
  readonly sprite: Sprite | undefined;
  /** Whether it need not be drawn again for this size and hue. */
  readonly isSharp: boolean;
}

export class Sprites {
  /** By seq, the most recently used last. */
  readonly #sprites = new Map<number, Sprite>();
  readonly #growths = new WeakMap<GardenEntry, Growth>();
  #pixels = 0;
  #daytime: Daytime = 'day';

  setDaytime(daytime: Daytime): void {
    if (daytime === this.#daytime) return;
    this.#daytime = daytime;
    this.#sprites.clear();
    this.#pixels = 0;
  }

  growthOf(entry: GardenEntry): Growth {
    let growth = this.#growths.get(entry);
    if (growth === undefined) {
      growth = grow(entry.kind, entry);
      this.#growths.set(entry, growth);
    }
    return growth;
  }

  /** `unit`: device pixels of the greatest growth. There is no sprite until one may be drawn. */
  find(entry: GardenEntry, unit: number, request: SpriteRequest): FoundSprite {
    const { isMoving, mayDraw, hues } = request;
    const scale = unit / GREATEST;
    const found = this.#sprites.get(entry.seq);
    const ratio = found === undefined ? 1 : Math.max(scale / found.scale, found.scale / scale);
    const isSharp =
      ratio <= (isMoving ? MOVING_TOLERANCE : SETTLED_TOLERANCE) &&
      found?.hue === hues.get(entry.author);
    if (found !== undefined && (isSharp || !mayDraw)) {
      this.#sprites.delete(entry.seq);
      this.#sprites.set(entry.seq, found);
      return { sprite: found, isSharp };
    }
    if (!mayDraw) return { sprite: undefined, isSharp: false };
    if (found !== undefined) this.#pixels -= pixelsOf(found);
    const drawn = this.#draw(entry, scale, hues);
    this.#sprites.delete(entry.seq);
    this.#sprites.set(entry.seq, drawn);
    this.#pixels += pixelsOf(drawn);
    this.#forgetOldest();
    return { sprite: drawn, isSharp: true };
  }

  #draw(entry: GardenEntry, scale: number, hues: Hues): Sprite {
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
      const colours = coloursOf(entry.author, this.#daytime, hues);
      for (const outline of growth.outlines) {
        const colour = colours(outline.tone);
        if (outline.tone === 'glow') drawGlow(context, growth, colour);
        else drawOutline(context, outline, colour);
      }
    }
    return { bitmap, scale, hue: hues.get(entry.author), x, y };
  }

  #forgetOldest(): void {
    for (const [seq, sprite] of this.#sprites) {
      if (this.#pixels <= MAX_PIXELS) return;
      this.#sprites.delete(seq);
      this.#pixels -= pixelsOf(sprite);
    }
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

function pixelsOf({ bitmap }: Sprite): number {
  return bitmap.width * bitmap.height;
}
