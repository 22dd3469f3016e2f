/**
 * A list of any length. The page holds what is near the visitor's view. It consists of chunks;
 * of those that are far away only the place and the height are kept, and they are loaded again when
 * they come near. What is in view never moves by what happens above it.
 */
import { Component, type ComponentChildren, type VNode } from 'preact';

import { type Chunk, ChunkContent, type LoadedChunk, loadedOf, newChunk } from './chunk.tsx';

/** What is found on one side of the list. */
export interface Edge<Place, Content> {
  readonly chunk?: LoadedChunk<Place, Content>;
  /** Whether there is more after it. */
  readonly more: boolean;
}

export interface ListSource<Place, Content> {
  /** Differs between chunks. */
  keyOf(place: Place): number;
  loadBefore(first: Place | undefined): Promise<Edge<Place, Content>>;
  loadAfter(last: Place | undefined): Promise<Edge<Place, Content>>;
  load(place: Place): Promise<Content>;
}

interface WindowedListProps<Place, Content> {
  readonly source: ListSource<Place, Content>;
  readonly chunks: readonly LoadedChunk<Place, Content>[];
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
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
  #hasBefore: boolean;
  #hasAfter: boolean;
  #list: HTMLElement | null = null;
  #isLoadingEdge = { before: false, after: false };
  #isFrameRequested = false;
  #isUnmounted = false;
  #isUnanchored = false;
  #restTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(props: WindowedListProps<Place, Content>) {
    super(props);
    this.#chunks = props.chunks.map(newChunk);
    this.#hasBefore = props.hasBefore;
    this.#hasAfter = props.hasAfter;
    if (props.handle !== undefined) props.handle.current = this;
  }

  override componentDidMount(): void {
    addEventListener('scroll', this.#onScroll, { passive: true });
    addEventListener('resize', this.#onScroll);
    addEventListener('online', this.#onScroll);
    this.#requestFrame();
  }

  override componentWillUnmount(): void {
    this.#isUnmounted = true;
    removeEventListener('scroll', this.#onScroll);
    removeEventListener('resize', this.#onScroll);
    removeEventListener('online', this.#onScroll);
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
  isShown(side: 'before' | 'after'): boolean {
    const { top = 0, bottom = 0 } = this.#list?.getBoundingClientRect() ?? {};
    const isOpen = side === 'before' ? this.#hasBefore : this.#hasAfter;
    return !isOpen && (side === 'before' ? top > -8 : bottom < innerHeight + 8);
  }

  /** Says that there is more on this side than was known. */
  reopen(side: 'before' | 'after'): void {
    if (side === 'before') this.#hasBefore = true;
    else this.#hasAfter = true;
    this.setState({});
  }

  /**
   * Changes the outermost chunk of a side, or adds one. `change` gets undefined where there is none that
   * is loaded. Does nothing and returns false where more is to come on that side.
   */
  extend(
    side: 'before' | 'after',
    change: (outermost: LoadedChunk<Place, Content> | undefined) => {
      readonly chunk: LoadedChunk<Place, Content>;
      readonly isNew: boolean;
    },
  ): boolean {
    if (side === 'before' ? this.#hasBefore : this.#hasAfter) return false;
    const outermost = side === 'before' ? this.#chunks[0] : this.#chunks.at(-1);
    const loaded = outermost && loadedOf(outermost);
    if (outermost !== undefined && loaded === undefined) return false;
    const { chunk, isNew } = change(loaded);
    if (!isNew && outermost !== undefined) Object.assign(outermost, chunk);
    else if (side === 'before') this.#chunks.unshift(newChunk(chunk));
    else this.#chunks.push(newChunk(chunk));
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
  reset(
    chunk: LoadedChunk<Place, Content> | undefined,
    has: { before: boolean; after: boolean },
  ): void {
    this.#chunks = chunk === undefined ? [] : [newChunk(chunk)];
    this.#hasBefore = has.before;
    this.#hasAfter = has.after;
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
        {this.#hasBefore && before}
        {parts}
        {this.#hasAfter && after}
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
    if (this.#isUnmounted) return;
    this.props.onRest?.(this.#anchor()?.element, this.isShown('before'));
  }

  #requestFrame(): void {
    if (this.#isFrameRequested) return;
    this.#isFrameRequested = true;
    requestAnimationFrame(() => {
      this.#isFrameRequested = false;
      if (!this.#isUnmounted) this.#update();
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
    if (this.#hasBefore && listTop > -near) void this.#loadEdge('before');
    if (this.#hasAfter && listBottom < innerHeight + near) void this.#loadEdge('after');
    if (isChanged) this.setState({});
  }

  /** Forgets chunks where the list is too high to be shown. They are found again from its ends. */
  #shorten(top: number, bottom: number): boolean {
    let isChanged = false;
    for (let above = -top; above > MAX_HEIGHT; isChanged = true) {
      const [first] = this.#chunks;
      if (first === undefined || first.content !== undefined) break;
      above -= first.height;
      this.#chunks.shift();
      this.#hasBefore = true;
    }
    for (let below = bottom - innerHeight; below > MAX_HEIGHT; isChanged = true) {
      const last = this.#chunks.at(-1);
      if (last === undefined || last.content !== undefined) break;
      below -= last.height;
      this.#chunks.pop();
      this.#hasAfter = true;
    }
    return isChanged;
  }

  async #load(chunk: Chunk<Place, Content>): Promise<void> {
    if (chunk.isLoading) return;
    chunk.isLoading = true;
    try {
      chunk.content = await this.props.source.load(chunk.place);
      if (!this.#isUnmounted) this.setState({});
    } catch {
      this.#retryLater();
    } finally {
      chunk.isLoading = false;
    }
  }

  async #loadEdge(side: 'before' | 'after'): Promise<void> {
    if (this.#isLoadingEdge[side]) return;
    this.#isLoadingEdge[side] = true;
    const { source } = this.props;
    const chunks = this.#chunks;
    try {
      const { chunk, more } =
        side === 'before'
          ? await source.loadBefore(chunks[0]?.place)
          : await source.loadAfter(chunks.at(-1)?.place);
      // Another part of the list may be shown by now.
      if (this.#isUnmounted || chunks !== this.#chunks) return;
      if (chunk !== undefined && side === 'before') chunks.unshift(newChunk(chunk));
      if (chunk !== undefined && side === 'after') chunks.push(newChunk(chunk));
      if (side === 'before') this.#hasBefore = more;
      else this.#hasAfter = more;
      this.setState({});
    } catch {
      this.#retryLater();
    } finally {
      this.#isLoadingEdge[side] = false;
    }
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
