/** The parts of a list that are loaded, dropped and loaded again as a whole, and where they come from. */
import { Component, type ComponentChildren } from 'preact';

/** `Place` is what a chunk is loaded again by. */
export interface LoadedChunk<Place, Content> {
  readonly place: Place;
  readonly content: Content;
}

export type Side = 'before' | 'after';

/** Whether the list goes on, on each side. */
export type Sides = Readonly<Record<Side, boolean>>;

/** What is found on one side of the list. */
export interface Edge<Place, Content> {
  readonly chunk?: LoadedChunk<Place, Content>;
  /** Whether there is more after it. */
  readonly more: boolean;
}

export interface ListSource<Place, Content> {
  /** Differs between chunks. */
  keyOf(place: Place): number;
  /** `from`: the outermost chunk of this side, if there is one. */
  loadEdge(side: Side, from: Place | undefined): Promise<Edge<Place, Content>>;
  load(place: Place): Promise<Content>;
}

/** A chunk of a list that is shown. */
export interface Chunk<Place, Content> {
  place: Place;
  /** Undefined while it is far away. */
  content: Content | undefined;
  /** In pixels, when it was last measured. */
  height: number;
  isLoading: boolean;
  element: HTMLElement | null;
}

export function newChunk<Place, Content>({
  place,
  content,
}: LoadedChunk<Place, Content>): Chunk<Place, Content> {
  return { place, content, height: 0, isLoading: false, element: null };
}

export function loadedOf<Place, Content>({
  place,
  content,
}: Chunk<Place, Content>): LoadedChunk<Place, Content> | undefined {
  return content === undefined ? undefined : { place, content };
}

interface ChunkContentProps<Content> {
  readonly content: Content;
  readonly render: (content: Content) => ComponentChildren;
}

/** Rendered again only where its content is another. */
export class ChunkContent<Content> extends Component<ChunkContentProps<Content>> {
  override shouldComponentUpdate({ content }: ChunkContentProps<Content>): boolean {
    return content !== this.props.content;
  }

  override render(): ComponentChildren {
    return this.props.render(this.props.content);
  }
}
