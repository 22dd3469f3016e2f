/** Draws the scene on a transparent canvas above the land. */
import type { Kind } from '@open-presence/protocol';

import { coloursOf, type Daytime } from '../colours.ts';
import { GREATEST } from '../growth/outline.ts';
import type { ChosenAuthor, Hues } from '../main-authors.ts';
import { drawMeadows } from './meadow.ts';
import { GROUND_END, HORIZON, type PictureSize } from '../place.ts';
import { nameOf, type Scene, type SceneGrowth, type SceneItem } from '../scene.ts';
import { Sprites } from './sprites.ts';
import { dayText, durationText, ticksIn } from '../time/time-axis.ts';
import type { TimeRange } from '../garden-data.ts';
import { lengthOf, positionOf } from '../time/time-view.ts';
import type { Timeline } from '../time/timeline.ts';

export interface Frame {
  readonly scene: Scene;
  readonly timeline: Timeline;
  readonly view: TimeRange;
  readonly size: PictureSize;
  /** CSS pixels of the greatest growth at the near end. */
  readonly unit: number;
  /** In ms, of the clock of animations. */
  readonly now: number;
  /** Whether things may move by themselves. */
  readonly isAnimated: boolean;
  /** Whether the view or the sizes change with each frame. */
  readonly isTravelling: boolean;
  /** Whether the log has entries. Without any, no axis is drawn. */
  readonly hasEntries: boolean;
  readonly chosen: ChosenAuthor | undefined;
  readonly hues: Hues;
  readonly pointed: SceneItem | undefined;
  readonly focused: SceneItem | undefined;
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
const BITMAP_BUDGET_MS = 6;
const GROWING_MS = 1300;

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
  readonly #meadows = document.createElement('canvas');
  readonly #locale: string;
  #meadowsKey: unknown[] = [];
  /** When a growth was first drawn, by id. */
  #born = new Map<string, number>();

  constructor(context: CanvasRenderingContext2D, locale: string) {
    this.#canvas = context.canvas;
    this.#context = context;
    this.#locale = locale;
  }

  /** Returns whether another frame has to be drawn even if nothing changes. */
  draw(frame: Frame): boolean {
    const { size, scene } = frame;
    const daytime = matchMedia('(prefers-color-scheme: dark)').matches ? 'night' : 'day';
    this.#sprites.setDaytime(daytime);
    const ratio = this.#fit(size);
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    if (frame.hasEntries) this.#drawAxis(frame);
    this.#drawMeadows(frame, daytime, ratio);
    const growths = scene.growths.filter((growth) => isNear(growth, frame));
    for (const growth of growths) this.#drawReply(growth, frame, daytime);
    const sways = frame.isAnimated && growths.length <= MAX_SWAYING;
    const started = performance.now();
    let isComplete = true;
    let isGrowing = false;
    for (const growth of growths) {
      const mayDraw = performance.now() - started < BITMAP_BUDGET_MS;
      const grown = frame.isAnimated ? this.#grownPart(growth, frame.now) : 1;
      if (!this.#drawGrowth(growth, frame, { ratio, sways, grown, mayDraw })) isComplete = false;
      if (grown < 1) isGrowing = true;
    }
    this.#forgetBirths(scene);
    if (frame.focused !== undefined) this.#drawFocus(this.boxOf(frame.focused, frame));
    return !isComplete || isGrowing || (sways && growths.length > 0);
  }

  boxOf(item: SceneItem, { view, size, unit }: Frame): Box {
    const x = positionOf(view, item.time) * size.width;
    if (item.item === 'meadow') {
      const left = positionOf(view, item.places.from) * size.width;
      const width = positionOf(view, item.places.to) * size.width - left;
      const top = size.height * 0.34;
      return { x: left, y: top, width, height: size.height * GROUND_END - top };
    }
    const { entry, place } = item;
    const growth = this.#sprites.growthOf(entry);
    const scale = (unit * place.scale) / GREATEST;
    const half = Math.max(6, growth.reach * scale);
    const height = Math.max(12, growth.height * scale);
    return { x: x - half, y: place.y * size.height - height, width: 2 * half, height: height + 2 };
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

  #drawAxis({ timeline, view, size }: Frame): void {
    const context = this.#context;
    const y = size.height * GROUND_END;
    context.fillStyle = getComputedStyle(this.#canvas).color;
    context.strokeStyle = context.fillStyle;
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const xOf = (time: number): number => positionOf(view, timeline.at(time)) * size.width;
    const shortest = lengthOf(view) / Math.max(1, size.width / 150);
    const ticks = timeline
      .unfolded(view)
      .flatMap((range) => ticksIn(range, shortest, this.#locale));
    const days = timeline.folds.map(({ to }) => ({ time: to, label: dayText(to, this.#locale) }));
    let end = 0;
    for (const { time, label } of [...days, ...ticks].toSorted((a, b) => a.time - b.time)) {
      const x = xOf(time);
      const half = context.measureText(label).width / 2 + 4;
      context.globalAlpha = 0.35;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, y + 3);
      context.lineTo(x, y + 9);
      context.stroke();
      context.globalAlpha = 1;
      if (x - half < end || x > size.width - half) continue;
      context.fillText(label, x, y + 20);
      end = x + half;
    }
    for (const { from, to } of timeline.folds) this.#drawFold(xOf(from), xOf(to), size, to - from);
  }

  /** Draws a folded silence as a dotted line, with its real length above it. */
  #drawFold(left: number, right: number, { width, height }: PictureSize, length: number): void {
    const context = this.#context;
    const middle = (left + right) / 2;
    if (right < 0 || left > width) return;
    const text = durationText(length, this.#locale);
    // A fold that is too narrow for its text shows it after the visitor zooms in.
    const isAlone = right - left > context.measureText(text).width / 2;
    context.globalAlpha = 0.5;
    context.setLineDash([2, 5]);
    context.beginPath();
    context.moveTo(middle, height * HORIZON);
    context.lineTo(middle, height * GROUND_END);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
    if (isAlone) context.fillText(text, middle, height * HORIZON - 10);
  }

  /** Draws the meadows on a canvas of their own, and again only when they or the view change. */
  #drawMeadows({ scene, view, size, hues }: Frame, daytime: Daytime, ratio: number): void {
    if (scene.meadows.length === 0) return;
    const key = [scene, view.from, view.to, size.width, size.height, daytime, ratio, hues];
    const context = this.#meadows.getContext('2d');
    if (context === null) return;
    if (key.some((part, index) => part !== this.#meadowsKey[index])) {
      this.#meadowsKey = key;
      this.#meadows.width = this.#canvas.width;
      this.#meadows.height = this.#canvas.height;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawMeadows(context, scene.meadows, { view, size, daytime, hues });
    }
    this.#context.drawImage(this.#meadows, 0, 0, size.width, size.height);
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
    context.strokeStyle = coloursOf(parent.entry.author, daytime, frame.hues)('leaf');
    context.lineWidth = isOnGround ? Math.max(1.1, frame.unit * 0.008) : 1;
    context.globalAlpha = (isOnGround ? 0.8 : 0.35) * strengthOf(growth, frame);
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
    const born = this.#born.get(entry.id);
    if (born === undefined) {
      // Growths begin to grow one after another.
      this.#born.set(entry.id, now + (entry.seq % 9) * 60);
      return 0.01;
    }
    const part = Math.max(0.01, Math.min(1, (now - born) / GROWING_MS));
    return 1 - (1 - part) ** 3;
  }

  #forgetBirths({ growths }: Scene): void {
    if (this.#born.size < 4000) return;
    const here = new Set(growths.map(({ entry }) => entry.id));
    this.#born = new Map([...this.#born].filter(([id]) => here.has(id)));
  }

  /** Returns whether it was drawn sharp. If not, a later frame has to draw it again. */
  #drawGrowth(
    growth: SceneGrowth,
    { view, size, unit, now, pointed, chosen, hues, isTravelling: isMoving }: Frame,
    how: { ratio: number; sways: boolean; grown: number; mayDraw: boolean },
  ): boolean {
    const { entry, place, time } = growth;
    const { ratio, sways, grown, mayDraw } = how;
    const wanted = unit * place.scale * ratio;
    const { sprite, isSharp } = this.#sprites.find(entry, wanted, { isMoving, mayDraw, hues });
    if (sprite === undefined) return false;
    const { turn, drift } = SWAY[entry.kind];
    const phase = (entry.seq * 2.399) % (2 * Math.PI);
    const swing = sways ? Math.sin(now / 1400 + phase) : 0;
    const bob = sways && drift > 0 ? Math.sin(now / 2300 + phase * 1.7) * drift : 0;
    const x = positionOf(view, time) * size.width + (drift > 3 ? swing * drift : 0);
    const y = place.y * size.height + bob;
    const scale = ((wanted / GREATEST / sprite.scale) * grown) / ratio;
    const context = this.#context;
    context.save();
    context.translate(x, y);
    context.transform(scale, 0, -swing * turn * scale, scale, 0, 0);
    context.globalAlpha = strengthOf(growth, { chosen });
    if (pointed !== undefined && nameOf(pointed) === entry.id) {
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
}

/** Growths of others fade while those of one author stand out. */
function strengthOf({ entry }: SceneGrowth, { chosen }: Pick<Frame, 'chosen'>): number {
  return chosen === undefined || chosen.name === entry.author ? 1 : 0.16;
}

function isNear({ time }: SceneGrowth, { view, size, unit }: Frame): boolean {
  const x = positionOf(view, time) * size.width;
  return x > -unit && x < size.width + unit;
}
