/**
 * A list of any length. The page holds what is near the visitor's view. It consists of chunks;
 * of those that are far away only the place and the height are kept, and they are loaded again when
 * they come near. What is in view never moves by what happens above it.
 */
import { Component, type ComponentChildren, type VNode } from 'preact';

import {
  type Chunk,
  ChunkContent,
  type ListSource,
  type LoadedChunk,
  loadedOf,
  newChunk,
  type Side,
  type Sides,
} from './chunk.tsx';

interface WindowedListProps<Place, Content> {
  readonly source: ListSource<Place, Content>;
  readonly chunks: readonly LoadedChunk<Place, Content>[];
  readonly has: Sides;
  readonly renderContent: (content: Content) => ComponentChildren;
  /** Stand at the ends of the list while there is more, and lead there without scripts. */
  readonly before: ComponentChildren;
  readonly after: ComponentChildren;
  /** Called when the view has come to rest, with the first element in it. */
  readonly onRest?: (first: Element | undefined, isAtStart: boolean) => void;
  readonly onScroll?: () => void;
  /** Gets the list, to be changed from outside. */
  readonly handle?: { current: WindowedList<Place, Content> | null };
}

interface Anchor {
  readonly element: Element;
  readonly top: number;
}

/** In heights of the view: what is nearer is loaded, and what is farther than this is dropped. */
const LOADED_VIEWS = 1.5;
const KEPT_VIEWS = 3;
/** Browsers show no elements beyond some tens of millions of pixels. */
const MAX_HEIGHT = 8_000_000;
/** In pixels: of what ends at the edge of the view, nothing can be read. */
const MIN_VISIBLE = 4;
const REST_MS = 250;
const RETRY_MS = 3000;

export class WindowedList<Place, Content> extends Component<WindowedListProps<Place, Content>> {
  #chunks: Chunk<Place, Content>[];
  #has: Record<Side, boolean>;
  #list: HTMLElement | null = null;
  #isLoadingEdge = { before: false, after: false };
  #isFrameRequested = false;
  readonly #unmount = new AbortController();
  #isUnanchored = false;
  #restTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(props: WindowedListProps<Place, Content>) {
    super(props);
    this.#chunks = props.chunks.map(newChunk);
    this.#has = { ...props.has };
    if (props.handle !== undefined) props.handle.current = this;
  }

  override componentDidMount(): void {
    const { signal } = this.#unmount;
    for (const type of ['scroll', 'resize', 'online'])
      addEventListener(type, this.#onScroll, { passive: true, signal });
    this.#requestFrame();
  }

  override componentWillUnmount(): void {
    this.#unmount.abort();
    clearTimeout(this.#restTimer);
    clearTimeout(this.#retryTimer);
  }

  override getSnapshotBeforeUpdate(): Anchor | null {
    this.#measure();
    const isUnanchored = this.#isUnanchored;
    this.#isUnanchored = false;
    return isUnanchored ? null : this.#anchor();
  }

  override componentDidUpdate(_: unknown, __: unknown, anchor: Anchor | null): void {
    if (anchor?.element.isConnected === true) {
      const moved = anchor.element.getBoundingClientRect().top - anchor.top;
      if (Math.abs(moved) > 0.5) scrollBy({ top: moved, behavior: 'instant' });
    }
    this.#requestFrame();
  }

  /** Whether the first, or the last, chunk of all is in view or near it. */
  isShown(side: Side): boolean {
    const { top = 0, bottom = 0 } = this.#list?.getBoundingClientRect() ?? {};
    return !this.#has[side] && (side === 'before' ? top > -8 : bottom < innerHeight + 8);
  }

  /** Says that there is more on this side than was known. */
  reopen(side: Side): void {
    this.#has[side] = true;
    this.setState({});
  }

  /**
   * Changes the outermost chunk of a side, or adds one. `change` gets undefined where there is none that
   * is loaded. Does nothing and returns false where more is to come on that side.
   */
  extend(
    side: Side,
    change: (outermost: LoadedChunk<Place, Content> | undefined) => {
      readonly chunk: LoadedChunk<Place, Content>;
      readonly isNew: boolean;
    },
  ): boolean {
    if (this.#has[side]) return false;
    const outermost = this.#outermost(side);
    const loaded = outermost && loadedOf(outermost);
    if (outermost !== undefined && loaded === undefined) return false;
    const { chunk, isNew } = change(loaded);
    if (!isNew && outermost !== undefined) Object.assign(outermost, chunk);
    else this.#add(side, chunk);
    this.#isUnanchored = this.isShown('before');
    this.setState({});
    return true;
  }

  /** Changes what is loaded: `change` returns the same content where nothing of it changes. */
  update(change: (content: Content) => Content): void {
    for (const chunk of this.#chunks)
      if (chunk.content !== undefined) chunk.content = change(chunk.content);
    this.setState({});
  }

  /** Shows another part of the list, from its start on. */
  reset(chunk: LoadedChunk<Place, Content> | undefined, has: Sides): void {
    this.#chunks = chunk === undefined ? [] : [newChunk(chunk)];
    this.#has = { ...has };
    this.#isUnanchored = true;
    this.setState({}, () => this.#list?.querySelector('.chunk')?.scrollIntoView());
  }

  override render(): VNode {
    const { renderContent, before, after } = this.props;
    const parts: VNode[] = [];
    let skipped = 0;
    const addSpacer = (): void => {
      if (skipped > 0)
        parts.push(<div key={`s${parts.length}`} style={{ height: `${skipped}px` }} />);
      skipped = 0;
    };
    for (const chunk of this.#chunks) {
      if (chunk.content === undefined) {
        skipped += chunk.height;
        continue;
      }
      addSpacer();
      parts.push(
        <div
          class="chunk"
          key={this.props.source.keyOf(chunk.place)}
          ref={(element) => void (chunk.element = element)}
        >
          <ChunkContent content={chunk.content} render={renderContent} />
        </div>,
      );
    }
    addSpacer();
    return (
      <div class="windowed-list" ref={(element) => void (this.#list = element)}>
        {this.#has.before && before}
        {parts}
        {this.#has.after && after}
      </div>
    );
  }

  readonly #onScroll = (): void => {
    this.#requestFrame();
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#rest(), REST_MS);
    this.props.onScroll?.();
  };

  #rest(): void {
    if (this.#unmount.signal.aborted) return;
    this.props.onRest?.(this.#anchor()?.element, this.isShown('before'));
  }

  #requestFrame(): void {
    if (this.#isFrameRequested) return;
    this.#isFrameRequested = true;
    requestAnimationFrame(() => {
      this.#isFrameRequested = false;
      if (!this.#unmount.signal.aborted) this.#update();
    });
  }

  /** Loads what is near the view, and drops what is far from it. */
  #update(): void {
    this.#measure();
    const { top: listTop = 0, bottom: listBottom = 0 } = this.#list?.getBoundingClientRect() ?? {};
    const near = innerHeight * LOADED_VIEWS;
    const far = innerHeight * KEPT_VIEWS;
    let isChanged = this.#shorten(listTop, listBottom);
    let top = this.#chunks[0]?.element?.getBoundingClientRect().top ?? listTop;
    for (const chunk of this.#chunks) {
      const bottom = top + chunk.height;
      const isWithin = (distance: number): boolean =>
        bottom > -distance && top < innerHeight + distance;
      if (chunk.content === undefined) {
        if (isWithin(near)) void this.#load(chunk);
      } else if (!isWithin(far) && chunk.element?.contains(document.activeElement) !== true) {
        chunk.content = undefined;
        isChanged = true;
      }
      top = bottom;
    }
    if (this.#has.before && listTop > -near) void this.#loadEdge('before');
    if (this.#has.after && listBottom < innerHeight + near) void this.#loadEdge('after');
    if (isChanged) this.setState({});
  }

  /** Forgets chunks where the list is too high to be shown. They are found again from its ends. */
  #shorten(top: number, bottom: number): boolean {
    let isChanged = false;
    const beyond = { before: -top, after: bottom - innerHeight };
    for (const side of ['before', 'after'] as const) {
      for (let height = beyond[side]; height > MAX_HEIGHT; isChanged = true) {
        const chunk = this.#outermost(side);
        if (chunk === undefined || chunk.content !== undefined) break;
        height -= chunk.height;
        this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
        this.#has[side] = true;
      }
    }
    return isChanged;
  }

  async #load(chunk: Chunk<Place, Content>): Promise<void> {
    if (chunk.isLoading) return;
    chunk.isLoading = true;
    try {
      chunk.content = await this.props.source.load(chunk.place);
      if (!this.#unmount.signal.aborted) this.setState({});
    } catch {
      this.#retryLater();
    } finally {
      chunk.isLoading = false;
    }
  }

  async #loadEdge(side: Side): Promise<void> {
    if (this.#isLoadingEdge[side]) return;
    this.#isLoadingEdge[side] = true;
    const chunks = this.#chunks;
    try {
      const from = this.#outermost(side)?.place;
      const { chunk, more } = await this.props.source.loadEdge(side, from);
      // Another part of the list may be shown by now.
      if (this.#unmount.signal.aborted || chunks !== this.#chunks) return;
      if (chunk !== undefined) this.#add(side, chunk);
      this.#has[side] = more;
      this.setState({});
    } catch {
      this.#retryLater();
    } finally {
      this.#isLoadingEdge[side] = false;
    }
  }

  #outermost(side: Side): Chunk<Place, Content> | undefined {
    return this.#chunks.at(side === 'before' ? 0 : -1);
  }

  #add(side: Side, chunk: LoadedChunk<Place, Content>): void {
    if (side === 'before') this.#chunks.unshift(newChunk(chunk));
    else this.#chunks.push(newChunk(chunk));
  }

  #retryLater(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#requestFrame(), RETRY_MS);
  }

  #measure(): void {
    for (const chunk of this.#chunks) {
      const height =
        chunk.content === undefined ? 0 : chunk.element?.getBoundingClientRect().height;
      if (height !== undefined && height > 0) chunk.height = height;
    }
  }

  /** The first element of a chunk that is in view. */
  #anchor(): Anchor | null {
    for (const { element } of this.#chunks) {
      if (element === null || element.getBoundingClientRect().bottom <= 0) continue;
      for (const child of element.children) {
        const { top, bottom } = child.getBoundingClientRect();
        if (bottom > MIN_VISIBLE) return { element: child, top };
      }
    }
    return null;
  }
}
