/**
 * The living picture: loads what is in view, and draws it whenever something changes. Loads and draws no more
 * than the view needs, however long the log is. Knows nothing of pointers, keys or words: `interaction.ts`
 * moves it, and the page describes the item that is pointed at.
 */
import type { GardenPage } from '../page-data.ts';
import type { GardenEntry } from './garden-data.ts';
import { itemAt } from './canvas/hit-test.ts';
import { type Author, type ChosenAuthor, type Hues, mainAuthors } from './main-authors.ts';
import { MovingView } from './time/moving-view.ts';
import { type Box, type Frame, Painter } from './canvas/painter.ts';
import { type PictureSize, unitFor } from './place.ts';
import {
  nameOf,
  queryBeyond,
  type Scene,
  type SceneItem,
  sceneOfEntries,
  sceneOfTiles,
} from './scene.ts';
import { fetchGarden, followEntries, TileCache } from './time/tile-cache.ts';
import { tilesIn } from './time/tile.ts';
import { Timeline } from './time/timeline.ts';

export interface PictureOptions {
  /** Its entries are shown until tiles are loaded. */
  readonly data: Pick<GardenPage, 'activity' | 'entries' | 'silences'>;
  readonly locale: string;
  /** Called when another item is pointed at or focused, and when it has moved. */
  readonly onDescribe: (item: SceneItem | undefined, box: Box | undefined) => void;
  /** Called with the main authors of the growths in view, when they have changed. */
  readonly onAuthors: (authors: readonly Author[]) => void;
  readonly onRest: (picture: GardenPicture) => void;
  readonly onEntries: (entries: readonly GardenEntry[]) => void;
}

/** Pause between two frames in which things only sway, in ms. */
const SWAY_FRAME_MS = 30;

export class GardenPicture {
  readonly view: MovingView;
  readonly timeline: Timeline;
  readonly #options: PictureOptions;
  readonly #painter: Painter;
  readonly #tiles: TileCache;
  readonly #closing = new AbortController();
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)');
  #scene: Scene;
  #tilesShown: readonly unknown[] = [];
  #size: PictureSize = { width: 0, height: 0 };
  #unit = 0;
  #pointed: SceneItem | undefined;
  #focused: SceneItem | undefined;
  /** The place on the timeline at which to focus an item, once it is loaded. */
  #focusTime: number | undefined;
  #request = 0;
  #lastDrawn = 0;
  #onlySways = false;
  #isInSight = true;
  #isTravelling = false;
  #authors = '';
  #chosen: ChosenAuthor | undefined;
  #hues: Hues = new Map();
  readonly #withheld = new Set<string>();

  constructor(context: CanvasRenderingContext2D, options: PictureOptions) {
    this.#options = options;
    const { activity, entries, silences } = options.data;
    const { oldest, newest } = activity;
    const timeline = new Timeline(silences, oldest, newest, activity.head);
    this.timeline = timeline;
    const ends = {
      oldest: oldest === undefined ? undefined : timeline.at(oldest),
      newest: newest === undefined ? undefined : timeline.at(newest),
    };
    this.view = new MovingView(ends, this.#calm, {
      onChange: () => this.#refresh(),
      onTravel: () => this.#redraw(),
    });
    this.#scene = sceneOfEntries(entries, timeline);
    this.#painter = new Painter(context, options.locale);
    this.#tiles = new TileCache(() => this.#refresh());
    this.#watch(context.canvas);
    void followEntries(activity.head, this.#closing.signal, (added) => this.#add(added));
  }

  close(): void {
    this.#closing.abort();
    this.#tiles.close();
    cancelAnimationFrame(this.#request);
  }

  get focused(): SceneItem | undefined {
    return this.#focused;
  }

  /** Zooms towards the focused item, or towards the middle. */
  zoomSmoothly(factor: number): void {
    this.view.zoomSmoothly(factor, this.#focused?.time);
  }

  /** Zooms in on a meadow until its plants can be told apart. */
  approach(item: SceneItem): void {
    if (item.item !== 'meadow') return;
    if (this.#focused === item) this.#focusTime = item.time;
    this.view.approach(item.places);
  }

  /** Points at the item there, or at none. `x`, `y`: CSS pixels from the upper left corner. */
  point(x?: number, y?: number): SceneItem | undefined {
    const frame = this.#frame(0);
    const boxOf = (item: SceneItem): Box => this.#painter.boxOf(item, frame);
    const item =
      x === undefined || y === undefined ? undefined : itemAt(this.#scene, boxOf, { x, y });
    if (item === this.#pointed) return item;
    this.#pointed = item;
    this.#describe();
    this.#redraw();
    return item;
  }

  choose(author: ChosenAuthor | undefined): void {
    this.#chosen = author;
    this.#redraw();
  }

  /** Takes the words out of entries. */
  withhold(ids: ReadonlySet<string>): void {
    for (const id of ids) this.#withheld.add(id);
    this.#tilesShown = [];
    this.#refresh();
  }

  recolour(hues: Hues): void {
    this.#hues = hues;
    this.#redraw();
  }

  unfocus(): void {
    this.#focusTime = undefined;
    this.#setFocus(undefined);
  }

  focusEnd(end: 'oldest' | 'newest'): void {
    const time = this.view[end];
    if (time !== undefined) this.#focusAt(time);
  }

  /**
   * Focuses the item before or after the focused one, even outside the view. If none is focused, focuses the
   * newest in view.
   */
  async focusNext(step: 1 | -1): Promise<void> {
    // The item of an earlier call is still loading: there is none to go on from.
    if (this.#focusTime !== undefined) return undefined;
    const { items } = this.#scene;
    const at = items.findIndex((item) => this.#focused && nameOf(item) === nameOf(this.#focused));
    if (at === -1) return this.#setFocus(items.findLast(({ time }) => this.view.has(time)));
    const next = items[at + step];
    if (next !== undefined) return this.#focusAt(next.time, next);
    const current = items[at];
    if (current === undefined) return undefined;
    const { entries } = await fetchGarden(queryBeyond(current, step), this.#closing.signal);
    if (entries[0] !== undefined) this.focusTime(entries[0].time);
  }

  /** `time`: in ms since 1970. */
  focusTime(time: number): void {
    this.#focusAt(this.timeline.at(time));
  }

  #focusAt(time: number, item?: SceneItem): void {
    this.view.bringIn(time);
    if (item !== undefined) return this.#setFocus(item);
    this.#focusTime = time;
    this.#refresh();
  }

  #setFocus(item: SceneItem | undefined): void {
    this.#focused = item;
    this.#describe();
    this.#redraw();
  }

  #describe(): void {
    const item = this.#pointed ?? this.#focused;
    this.#options.onDescribe(item, item && this.#painter.boxOf(item, this.#frame(0)));
  }

  /** Shows the tiles of the view once all of them are loaded. Until then, the earlier ones stay. */
  #refresh(): void {
    if (this.#size.width > 0) {
      const tiles = this.#tiles.request(tilesIn(this.view.range, this.#size.width, this.timeline));
      const changed =
        tiles?.length !== this.#tilesShown.length ||
        tiles.some((tile, index) => tile !== this.#tilesShown[index]);
      if (tiles !== undefined && changed) {
        this.#tilesShown = tiles;
        this.#scene = sceneOfTiles(tiles, this.timeline, this.#withheld);
        this.#pointed = this.#sameItem(this.#pointed);
        const focused = this.#focused;
        this.#focused = this.#sameItem(focused);
        // The focused entry has become part of a meadow, or the focused meadow single plants.
        if (this.#focused === undefined) this.#focusTime ??= focused?.time;
      }
      if (tiles !== undefined && this.#focusTime !== undefined) this.#focusLoaded(this.#focusTime);
    }
    this.#describe();
    this.#redraw();
  }

  #focusLoaded(time: number): void {
    if (!this.view.has(time)) return;
    this.#focusTime = undefined;
    const distance = (item: SceneItem): number => {
      if (item.item === 'meadow' && item.places.from <= time && item.places.to > time) return 0;
      return Math.abs(item.time - time);
    };
    const [nearest] = this.#scene.items.toSorted((a, b) => distance(a) - distance(b));
    this.#focused = nearest;
  }

  #sameItem(item: SceneItem | undefined): SceneItem | undefined {
    if (item === undefined) return undefined;
    return this.#scene.items.find((other) => nameOf(other) === nameOf(item));
  }

  #add(entries: readonly GardenEntry[]): void {
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined) return;
    for (const entry of entries) this.#tiles.add(entry);
    this.#options.onEntries(entries);
    this.timeline.extend(first.time, last.time);
    this.view.extend(this.timeline.at(first.time), this.timeline.at(last.time));
    this.#refresh();
  }

  /** Follows the canvas: its size, whether it is in sight, and what the visitor prefers. */
  #watch(canvas: HTMLCanvasElement): void {
    const { signal } = this.#closing;
    const resized = new ResizeObserver(() => {
      this.#resize({ width: canvas.clientWidth, height: canvas.clientHeight });
    });
    resized.observe(canvas);
    const seen = new IntersectionObserver((changes) => {
      this.#isInSight = changes.at(-1)?.isIntersecting ?? true;
      this.#redraw();
    });
    seen.observe(canvas);
    signal.addEventListener('abort', () => {
      resized.disconnect();
      seen.disconnect();
    });
    for (const query of ['(prefers-reduced-motion: reduce)', '(prefers-color-scheme: dark)'])
      matchMedia(query).addEventListener('change', () => this.#redraw(), { signal });
  }

  #resize(size: PictureSize): void {
    this.#size = size;
    this.#unit = 0;
    this.view.resize(size.width);
    this.#refresh();
  }

  #redraw(): void {
    this.#onlySways = false;
    if (this.#request === 0) this.#request = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#request = 0;
    if (this.#closing.signal.aborted || this.#size.width === 0) return;
    if (!this.#isInSight) {
      // The legend may be in sight without the picture.
      this.view.arrive();
      return this.#reportAuthors();
    }
    const mayWait = this.#onlySways && now - this.#lastDrawn < SWAY_FRAME_MS;
    if (!mayWait) {
      this.#lastDrawn = now;
      this.#onlySways = true;
      const isSettled = [this.view.follow(now), this.#followUnit()].every((settled) => settled);
      this.#isTravelling = !isSettled;
      const goesOn = this.#painter.draw(this.#frame(now));
      if (!isSettled) this.#redraw();
      else {
        this.#reportAuthors();
        this.#options.onRest(this);
      }
      if (!goesOn) return;
    }
    if (this.#request === 0) this.#request = requestAnimationFrame((next) => this.#draw(next));
  }

  #frame(now: number): Frame {
    return {
      scene: this.#scene,
      timeline: this.timeline,
      view: this.view.range,
      size: this.#size,
      unit: this.#unit,
      now,
      isAnimated: !this.#calm.matches,
      isTravelling: this.#isTravelling,
      hasEntries: this.view.newest !== undefined,
      chosen: this.#chosen,
      hues: this.#hues,
      pointed: this.#pointed,
      focused: this.#focused,
    };
  }

  #reportAuthors(): void {
    const inView = this.#scene.growths.filter(({ time }) => this.view.has(time));
    const authors = mainAuthors(inView.map(({ entry }) => entry));
    const key = JSON.stringify(authors);
    if (key === this.#authors || authors.length === 0) return;
    this.#authors = key;
    this.#options.onAuthors(authors);
  }

  /**
   * Makes growths larger or smaller, step by step, as fewer or more of them are in view. Returns whether they
   * have the right size.
   */
  #followUnit(): boolean {
    const growths = this.#scene.growths.filter(({ time }) => this.view.has(time)).length;
    const meadows = this.#scene.meadows.filter(({ time }) => this.view.has(time)).length;
    const goal = unitFor(this.#size, growths + 4 * meadows);
    const isNear = Math.abs(goal - this.#unit) < 0.5;
    if (this.#unit === 0 || isNear || this.#calm.matches) this.#unit = goal;
    else this.#unit += (goal - this.#unit) * 0.18;
    return this.#unit === goal;
  }
}
