/**
 * The living picture: draws the growths of one window of the log, and draws again whenever something changes. Knows
 * nothing of pointers, keys or words: `interaction.ts` moves it, and `start.ts` describes what is pointed at.
 */
import { type Box, type Frame, Painter } from './canvas/painter.ts';
import type { GardenEntry } from './garden-data.ts';
import { distinctHues, mainAuthors } from './main-authors.ts';
import { type PictureSize, unitFor } from './place.ts';
import { type SceneGrowth, sceneOf } from './scene.ts';

export const MAX_ENTRIES = 600;
const MAX_SCALE = 24;
/** Pause between two frames in which things only sway, in ms. */
const SWAY_FRAME_MS = 30;

type OnDescribe = (growth: SceneGrowth | undefined, box: Box | undefined) => void;

export class GardenPicture {
  readonly #stage: HTMLElement;
  readonly #painter: Painter;
  readonly #onDescribe: OnDescribe;
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)');
  readonly #withheld = new Set<string>();
  #entries: readonly GardenEntry[] = [];
  #growths: readonly SceneGrowth[] = [];
  #size: PictureSize = { width: 0, height: 0 };
  #scale = 1;
  #unit = 0;
  #pointed: SceneGrowth | undefined;
  #focused: SceneGrowth | undefined;
  #request = 0;
  #lastDrawn = 0;
  #onlySways = false;
  #isInSight = true;

  /** `stage` scrolls the picture from side to side. */
  constructor(stage: HTMLElement, context: CanvasRenderingContext2D, onDescribe: OnDescribe) {
    this.#stage = stage;
    this.#onDescribe = onDescribe;
    this.#painter = new Painter(context, document.documentElement.lang);
    const { canvas } = context;
    new ResizeObserver(() => this.#resize(canvas)).observe(stage);
    new IntersectionObserver((changes) => {
      this.#isInSight = changes.at(-1)?.isIntersecting ?? true;
      this.#redraw();
    }).observe(stage);
    stage.addEventListener('scroll', () => this.#changed());
    for (const query of ['(prefers-reduced-motion: reduce)', '(prefers-color-scheme: dark)'])
      matchMedia(query).addEventListener('change', () => this.#redraw());
  }

  get newest(): number {
    return Math.max(0, ...this.#entries.map(({ seq }) => seq));
  }

  get focused(): SceneGrowth | undefined {
    return this.#focused;
  }

  /** New ones grow in; beyond the greatest number, the oldest make room for them. */
  add(entries: readonly GardenEntry[]): void {
    const known = new Set(this.#entries.map(({ id }) => id));
    const all = [...this.#entries, ...entries.filter(({ id }) => !known.has(id))];
    this.#entries = all.toSorted((a, b) => a.seq - b.seq).slice(-MAX_ENTRIES);
    this.#arrange();
  }

  /** Takes the words out of entries. */
  withhold(ids: readonly string[]): void {
    for (const id of ids) this.#withheld.add(id);
    this.#arrange();
  }

  #arrange(): void {
    this.#growths = sceneOf(this.#entries, this.#withheld);
    const same = (growth: SceneGrowth | undefined): SceneGrowth | undefined =>
      this.#growths.find(({ entry }) => entry.id === growth?.entry.id);
    this.#pointed = same(this.#pointed);
    this.#focused = same(this.#focused);
    this.#painter.setHues(distinctHues(mainAuthors(this.#growths.map(({ entry }) => entry))));
    this.#changed();
  }

  /** Makes the picture `factor` times as wide. `x`: CSS pixels from the left edge to what stays in its place. */
  zoom(factor: number, x: number = this.#size.width / 2): void {
    const scale = Math.max(1, Math.min(MAX_SCALE, this.#scale * factor));
    const left = (this.#stage.scrollLeft + x) * (scale / this.#scale) - x;
    this.#scale = scale;
    this.#widen();
    this.#stage.scrollLeft = left;
    this.#changed();
  }

  showWhole(): void {
    this.zoom(0);
  }

  /** Points at the growth there, or at none. `x`, `y`: CSS pixels from the upper left corner. */
  point(x?: number, y?: number): SceneGrowth | undefined {
    const found = x === undefined || y === undefined ? undefined : this.#at(x, y);
    if (found === this.#pointed) return found;
    this.#pointed = found;
    this.#changed();
    return found;
  }

  focus(growth: SceneGrowth | undefined): void {
    this.#focused = growth;
    if (growth !== undefined) this.#bringIn(growth);
    this.#changed();
  }

  focusEnd(end: 'newest' | 'oldest'): void {
    this.focus(this.#growths.at(end === 'newest' ? -1 : 0));
  }

  /** Focuses the growth before or after the focused one; the newest if there is none. */
  focusNext(step: 1 | -1): void {
    const at = this.#growths.findIndex(({ entry }) => entry.id === this.#focused?.entry.id);
    if (at === -1) return this.focusEnd('newest');
    this.focus(this.#growths[at + step] ?? this.#growths[at]);
  }

  /** The growth whose middle is nearest, with a preference for growths in front. */
  #at(x: number, y: number): SceneGrowth | undefined {
    const frame = this.#frame(0);
    let nearest: SceneGrowth | undefined;
    let least = Infinity;
    for (const growth of this.#growths) {
      const box = this.#painter.boxOf(growth, frame);
      const across = Math.abs((x - box.x) / box.width - 0.5);
      const down = Math.abs((y - box.y) / box.height - 0.5);
      const distance = across + 0.5 * down - 0.15 * growth.place.depth;
      if (across > 0.5 || down > 0.5 || distance > least) continue;
      nearest = growth;
      least = distance;
    }
    return nearest;
  }

  #bringIn({ across }: SceneGrowth): void {
    const { width } = this.#size;
    const x = across * width * this.#scale - this.#stage.scrollLeft;
    if (x < width * 0.04 || x > width * 0.96) this.#stage.scrollLeft += x - width / 2;
  }

  #resize(canvas: HTMLCanvasElement): void {
    this.#size = { width: this.#stage.clientWidth, height: this.#stage.clientHeight };
    canvas.style.inlineSize = `${this.#size.width}px`;
    canvas.style.blockSize = `${this.#size.height}px`;
    this.#unit = 0;
    this.#widen();
    this.#changed();
  }

  #widen(): void {
    const field = this.#stage.firstElementChild;
    if (field instanceof HTMLElement) field.style.inlineSize = `${this.#scale * 100}%`;
  }

  #changed(): void {
    const growth = this.#pointed ?? this.#focused;
    this.#onDescribe(growth, growth && this.#painter.boxOf(growth, this.#frame(0)));
    this.#redraw();
  }

  #redraw(): void {
    this.#onlySways = false;
    if (this.#request === 0) this.#request = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#request = 0;
    if (this.#size.width === 0 || !this.#isInSight) return;
    if (!this.#onlySways || now - this.#lastDrawn >= SWAY_FRAME_MS) {
      this.#lastDrawn = now;
      this.#onlySways = true;
      const isSettled = this.#followUnit();
      const goesOn = this.#painter.draw(this.#frame(now));
      if (isSettled && !goesOn) return;
    }
    this.#request ||= requestAnimationFrame((next) => this.#draw(next));
  }

  #frame(now: number): Frame {
    return {
      growths: this.#growths,
      size: this.#size,
      scale: this.#scale,
      left: this.#stage.scrollLeft,
      unit: this.#unit,
      now,
      isAnimated: !this.#calm.matches,
      pointed: this.#pointed,
      focused: this.#focused,
    };
  }

  /** Makes growths larger or smaller, step by step, as fewer or more are in view. Returns whether they are right. */
  #followUnit(): boolean {
    const goal = unitFor(this.#size, this.#growths.length / this.#scale);
    const isNear = Math.abs(goal - this.#unit) < 0.5;
    if (this.#unit === 0 || isNear || this.#calm.matches) this.#unit = goal;
    else this.#unit += (goal - this.#unit) * 0.18;
    return this.#unit === goal;
  }
}
