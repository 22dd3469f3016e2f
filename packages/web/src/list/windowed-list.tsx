/**
 * A list of any length, in chunks. The page holds the chunks around the visitor's view: far ones are dropped
 * at the ends of the list, and loaded again when the view comes near. Changes above the view never move what
 * is in view. Knows nothing of entries: a `ListSource` loads the chunks.
 */
import { Component, type ComponentChildren, type VNode } from 'preact';

/** A part of a list, loaded and dropped as a whole. */
export interface Chunk<Place, Content> {
  /** Its place in the whole list, from which the source loads its neighbours. */
  place: Place;
  content: Content;
}

export type Side = 'before' | 'after';

export type Sides = Readonly<Record<Side, boolean>>;

export interface Edge<Place, Content> {
  readonly chunk?: Chunk<Place, Content>;
  readonly more: boolean;
}

export interface ListSource<Place, Content> {
  keyOf(place: Place): number;
  /** `from`: the place of the outermost chunk on this side, if there is one. */
  loadEdge(side: Side, from: Place | undefined): Promise<Edge<Place, Content>>;
}

interface EdgeLink {
  readonly href: string;
  readonly text: string;
}

interface WindowedListProps<Place, Content> {
  readonly source: ListSource<Place, Content>;
  readonly chunks: readonly Chunk<Place, Content>[];
  readonly has: Sides;
  readonly renderContent: (content: Content) => ComponentChildren;
  /** Shown at the ends of the list while it goes on: links that also work without scripts. */
  readonly links: Readonly<Record<Side, EdgeLink>> | undefined;
  /** Called when the view has come to rest, with the first element in it. */
  readonly onRest?: (first: Element | undefined, isAtStart: boolean) => void;
  readonly onScroll?: () => void;
  /** Receives the list, so that its owner can change it. */
  readonly handle?: { current: WindowedList<Place, Content> | null };
}

interface Anchor {
  readonly element: Element;
  readonly top: number;
}

/** In heights of the view. Nearer chunks are loaded; chunks beyond `KEPT_VIEWS` may be dropped. */
const LOADED_VIEWS = 1.5;
const KEPT_VIEWS = 3;
/** No chunk is dropped while the page has fewer than this. */
const MAX_CHUNKS = 10;
/** In pixels: nothing can be read of an element with less than this in view. */
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
    this.#chunks = [...props.chunks];
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

  /** Whether the list ends on this side, and that end is in view. */
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
   * Puts what `change` returns in the place of the outermost chunk of a side if it has the key of that one, else
   * beyond it. `change` gets undefined if there is none. Does nothing and returns false if the list goes on beyond
   * the chunks of that side.
   */
  extend(
    side: Side,
    change: (outermost: Chunk<Place, Content> | undefined) => Chunk<Place, Content>,
  ): boolean {
    if (this.#has[side]) return false;
    const { source } = this.props;
    const outermost = this.#outermost(side);
    const chunk = change(outermost);
    if (outermost !== undefined && source.keyOf(chunk.place) === source.keyOf(outermost.place))
      Object.assign(outermost, chunk);
    else this.#add(side, chunk);
    this.#isUnanchored = this.isShown('before');
    this.setState({});
    return true;
  }

  /** Changes all loaded content. `change` returns the same object if nothing of it changes. */
  update(change: (content: Content) => Content): void {
    for (const chunk of this.#chunks) chunk.content = change(chunk.content);
    this.setState({});
  }

  reset(chunk: Chunk<Place, Content> | undefined, has: Sides): void {
    this.#chunks = chunk === undefined ? [] : [chunk];
    this.#has = { ...has };
    this.#isUnanchored = true;
    this.setState({}, () => this.#list?.querySelector('.chunk')?.scrollIntoView());
  }

  override render(): VNode {
    const { source, renderContent } = this.props;
    return (
      <div class="windowed-list" ref={(element) => void (this.#list = element)}>
        {this.#link('before', 'prev')}
        {this.#chunks.map(({ place, content }) => (
          <div class="chunk" key={source.keyOf(place)}>
            <ChunkContent content={content} render={renderContent} />
          </div>
        ))}
        {this.#link('after', 'next')}
      </div>
    );
  }

  #link(side: Side, rel: 'next' | 'prev'): VNode | null {
    const link = this.props.links?.[side];
    return !this.#has[side] || link === undefined ? null : (
      <p class="entries-more" key={side}>
        <a href={link.href} rel={rel}>
          {link.text}
        </a>
      </p>
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
      if (!this.#unmount.signal.aborted) this.#loadNear();
    });
  }

  #loadNear(): void {
    const { top = 0, bottom = 0 } = this.#list?.getBoundingClientRect() ?? {};
    const near = innerHeight * LOADED_VIEWS;
    if (this.#has.before && top > -near) void this.#loadEdge('before');
    if (this.#has.after && bottom < innerHeight + near) void this.#loadEdge('after');
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
      clearTimeout(this.#retryTimer);
      this.#retryTimer = setTimeout(() => this.#requestFrame(), RETRY_MS);
    } finally {
      this.#isLoadingEdge[side] = false;
    }
  }

  #outermost(side: Side): Chunk<Place, Content> | undefined {
    return this.#chunks.at(side === 'before' ? 0 : -1);
  }

  /** Adds a chunk, and drops the one at the other end if there are many. */
  #add(side: Side, chunk: Chunk<Place, Content>): void {
    const other = side === 'before' ? 'after' : 'before';
    if (this.#chunks.length >= MAX_CHUNKS && this.#isFar(other)) {
      if (other === 'before') this.#chunks.shift();
      else this.#chunks.pop();
      this.#has[other] = true;
    }
    if (side === 'before') this.#chunks.unshift(chunk);
    else this.#chunks.push(chunk);
  }

  /** Whether the outermost chunk of a side is far from the view, and nobody writes in it. */
  #isFar(side: Side): boolean {
    const element = Array.from(this.#list?.querySelectorAll('.chunk') ?? []).at(
      side === 'before' ? 0 : -1,
    );
    if (element === undefined || element.querySelector('form:focus-within') !== null) return false;
    const { top, bottom } = element.getBoundingClientRect();
    const far = innerHeight * KEPT_VIEWS;
    return bottom < -far || top > innerHeight + far;
  }

  #anchor(): Anchor | null {
    for (const chunk of this.#list?.querySelectorAll('.chunk') ?? []) {
      if (chunk.getBoundingClientRect().bottom <= 0) continue;
      for (const element of chunk.children) {
        const { top, bottom } = element.getBoundingClientRect();
        if (bottom > MIN_VISIBLE) return { element, top };
      }
    }
    return null;
  }
}

interface ChunkContentProps<Content> {
  readonly content: Content;
  readonly render: (content: Content) => ComponentChildren;
}

/** Rendered again only when its content changes. */
class ChunkContent<Content> extends Component<ChunkContentProps<Content>> {
  override shouldComponentUpdate({ content }: ChunkContentProps<Content>): boolean {
    return content !== this.props.content;
  }

  override render(): ComponentChildren {
    return this.props.render(this.props.content);
  }
}
