/** Draws the scene on a transparent canvas above the land. */
import type { Kind } from '@open-presence/protocol';

import { coloursOf, type Daytime } from '../colours.ts';
import { GREATEST } from '../growth/outline.ts';
import type { Hues } from '../main-authors.ts';
import { GROUND_END, type PictureSize } from '../place.ts';
import { type SceneGrowth, ticksOf } from '../scene.ts';
import { Sprites } from './sprites.ts';

export interface Frame {
  /** By time. */
  readonly growths: readonly SceneGrowth[];
  readonly size: PictureSize;
  /** How many times the picture is wider than its window, and CSS pixels of it to the left of that. */
  readonly scale: number;
  readonly left: number;
  /** CSS pixels of the greatest growth at the near end. */
  readonly unit: number;
  /** In ms, of the clock of animations. */
  readonly now: number;
  /** Whether things may move by themselves. */
  readonly isAnimated: boolean;
  readonly pointed: SceneGrowth | undefined;
  readonly focused: SceneGrowth | undefined;
}

/** A rectangle in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** With more growths than this in view, they do not move. */
const MAX_SWAYING = 260;
/** Time for drawing new bitmaps in one frame, in ms. Later frames draw the rest. */
const BITMAP_BUDGET_MS = 12;
const GROWING_MS = 1300;
/** The part of its way that a growth goes to a new place in each frame. */
const STEP = 0.12;

/** How far growths of a kind sway, in radians, and how far they drift, in CSS pixels. */
const SWAY: Readonly<Record<Kind, { readonly turn: number; readonly drift: number }>> = {
  garden: { turn: 0.022, drift: 0 },
  seeds: { turn: 0, drift: 0 },
  shepit: { turn: 0.09, drift: 9 },
  resonance: { turn: 0, drift: 3 },
};

export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #sprites = new Sprites();
  readonly #locale: string;
  #hues: Hues = new Map();
  /** When a growth was first drawn, and where it stands now, by id. */
  readonly #known = new Map<string, { readonly born: number; across: number }>();

  constructor(context: CanvasRenderingContext2D, locale: string) {
    this.#canvas = context.canvas;
    this.#context = context;
    this.#locale = locale;
  }

  setHues(hues: Hues): void {
    this.#hues = hues;
    this.#sprites.setHues(hues);
  }

  /** Returns whether another frame has to be drawn even if nothing changes. */
  draw(frame: Frame): boolean {
    const { size, isAnimated, now } = frame;
    const daytime = matchMedia('(prefers-color-scheme: dark)').matches ? 'night' : 'day';
    this.#sprites.setDaytime(daytime);
    const ratio = this.#fit(size);
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    this.#drawAxis(frame);
    const isMoving = this.#settle(frame);
    const growths = frame.growths
      .filter((growth) => this.#isNear(growth, frame))
      .toSorted((a, b) => a.place.depth - b.place.depth);
    for (const growth of growths) this.#drawReply(growth, frame, daytime);
    const sways = isAnimated && growths.length <= MAX_SWAYING;
    const started = performance.now();
    let isComplete = true;
    for (const growth of growths) {
      const mayDraw = performance.now() - started < BITMAP_BUDGET_MS;
      const grown = isAnimated ? this.#grownPart(growth, now) : 1;
      const isSharp = this.#drawGrowth(growth, frame, { ratio, sways, grown, mayDraw });
      isComplete &&= isSharp && grown === 1;
    }
    if (frame.focused !== undefined) this.#drawFocus(this.boxOf(frame.focused, frame));
    return !isComplete || isMoving || (sways && growths.length > 0);
  }

  boxOf(growth: SceneGrowth, { size, unit, scale, left }: Frame): Box {
    const { entry, place } = growth;
    const { height, reach } = this.#sprites.growthOf(entry);
    const x = this.#across(growth) * size.width * scale - left;
    const pixels = (unit * place.scale) / GREATEST;
    const half = Math.max(6, reach * pixels);
    const tall = Math.max(12, height * pixels);
    return { x: x - half, y: place.y * size.height - tall, width: 2 * half, height: tall + 2 };
  }

  #across({ entry, across }: SceneGrowth): number {
    return this.#known.get(entry.id)?.across ?? across;
  }

  /** Moves growths towards their places, which change when others grow. Returns whether some still move. */
  #settle({ growths, now, isAnimated }: Frame): boolean {
    let isMoving = false;
    for (const { entry, across } of growths) {
      const known = this.#known.get(entry.id);
      // Growths begin to grow one after another.
      if (known === undefined)
        this.#known.set(entry.id, { born: now + (entry.seq % 9) * 60, across });
      else if (!isAnimated || Math.abs(known.across - across) < 0.0002) known.across = across;
      else {
        known.across += (across - known.across) * STEP;
        isMoving = true;
      }
    }
    return isMoving;
  }

  /** Returns the device pixels of a CSS pixel. */
  #fit({ width, height }: PictureSize): number {
    const ratio = Math.min(2, globalThis.devicePixelRatio);
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== across || this.#canvas.height !== down) {
      this.#canvas.width = across;
      this.#canvas.height = down;
    }
    return ratio;
  }

  #drawAxis({ growths, size, scale, left }: Frame): void {
    const context = this.#context;
    const y = size.height * GROUND_END;
    context.fillStyle = getComputedStyle(this.#canvas).color;
    context.strokeStyle = context.fillStyle;
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineWidth = 1;
    let end = 0;
    for (const { across, label } of ticksOf(growths, this.#locale)) {
      const x = across * size.width * scale - left;
      const half = context.measureText(label).width / 2 + 14;
      if (x - half < end || x > size.width - half) continue;
      context.globalAlpha = 0.35;
      context.beginPath();
      context.moveTo(x, y + 3);
      context.lineTo(x, y + 9);
      context.stroke();
      context.globalAlpha = 1;
      context.fillText(label, x, y + 20);
      end = x + half;
    }
  }

  #drawReply(growth: SceneGrowth, frame: Frame, daytime: Daytime): void {
    const { parent } = growth;
    if (parent === undefined) return;
    const context = this.#context;
    const [from, to] = [this.boxOf(parent, frame), this.boxOf(growth, frame)];
    const startX = from.x + from.width / 2;
    const startY = from.y + from.height * 0.45;
    const endX = to.x + to.width / 2;
    const endY = to.y + to.height * 0.9;
    const rise = Math.min(frame.size.height * 0.16, 12 + Math.abs(endX - startX) * 0.22);
    const isOnGround = [parent, growth].every(({ entry: { kind } }) => SWAY[kind].drift === 0);
    context.strokeStyle = coloursOf(parent.entry.author, daytime, this.#hues)('leaf');
    context.lineWidth = isOnGround ? Math.max(1.1, frame.unit * 0.008) : 1;
    context.globalAlpha = isOnGround ? 0.8 : 0.35;
    context.setLineDash(isOnGround ? [] : [1, 4]);
    context.lineCap = 'round';
    context.beginPath();
    context.moveTo(startX, startY);
    context.bezierCurveTo(
      startX + (endX - startX) * 0.3,
      startY - rise,
      endX - (endX - startX) * 0.15,
      Math.min(startY, endY) - rise * 0.6,
      endX,
      endY,
    );
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  #grownPart({ entry }: SceneGrowth, now: number): number {
    const born = this.#known.get(entry.id)?.born ?? now;
    const part = Math.max(0.01, Math.min(1, (now - born) / GROWING_MS));
    return 1 - (1 - part) ** 3;
  }

  /** Returns whether it was drawn sharp. If not, a later frame has to draw it again. */
  #drawGrowth(
    growth: SceneGrowth,
    { size, unit, now, pointed, scale: zoom, left }: Frame,
    how: { ratio: number; sways: boolean; grown: number; mayDraw: boolean },
  ): boolean {
    const { entry, place } = growth;
    const { ratio, sways, grown, mayDraw } = how;
    const wanted = unit * place.scale * ratio;
    const { sprite, isSharp } = this.#sprites.find(entry, wanted, mayDraw);
    if (sprite === undefined) return false;
    const { turn, drift } = SWAY[entry.kind];
    const phase = (entry.seq * 2.399) % (2 * Math.PI);
    const swing = sways ? Math.sin(now / 1400 + phase) : 0;
    const bob = sways && drift > 0 ? Math.sin(now / 2300 + phase * 1.7) * drift : 0;
    const x = this.#across(growth) * size.width * zoom - left + (drift > 3 ? swing * drift : 0);
    const y = place.y * size.height + bob;
    const scale = ((wanted / GREATEST / sprite.scale) * grown) / ratio;
    const context = this.#context;
    context.save();
    context.translate(x, y);
    context.transform(scale, 0, -swing * turn * scale, scale, 0, 0);
    if (pointed?.entry.id === entry.id) {
      context.shadowColor = getComputedStyle(this.#canvas).outlineColor;
      context.shadowBlur = 14 * ratio;
    }
    context.drawImage(sprite.bitmap, -sprite.x, -sprite.y);
    context.restore();
    return isSharp;
  }

  #drawFocus({ x, y, width, height }: Box): void {
    const context = this.#context;
    context.strokeStyle = getComputedStyle(this.#canvas).outlineColor;
    context.lineWidth = 2;
    context.beginPath();
    context.roundRect(x - 5, y - 5, width + 10, height + 10, 6);
    context.stroke();
  }

  #isNear(growth: SceneGrowth, { size, unit, scale, left }: Frame): boolean {
    const x = this.#across(growth) * size.width * scale - left;
    return x > -unit && x < size.width + unit;
  }
}
