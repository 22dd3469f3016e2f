/** The data that the gateway gives to the picture of the garden. Types only. */
import type { Kind } from '@open-presence/protocol';

/** In ms since 1970, with decimals. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** What the picture of the garden shows of an entry: a few hundred bytes, whatever the entry holds. */
export interface GardenEntry {
  readonly id: string;
  readonly seq: number;
  readonly kind: Kind;
  /** In ms since 1970. */
  readonly time: number;
  /** Bytes of the whole entry. */
  readonly size: number;
  /** The start of the text, or of what a first contact seeks. */
  readonly text: string;
  readonly author?: string | undefined;
  readonly inReplyTo?: string | undefined;
}

/** The answer to `/web/garden`. */
export interface GardenEntries {
  /** The newest seq in the log. */
  readonly head: number;
  readonly entries: readonly GardenEntry[];
}

/** The answer to `/web/activity`: how many entries were stored in each of some equal spans of time. */
export interface Activity {
  readonly head: number;
  /** Times of the oldest and the newest entry, in ms since 1970; absent where there is none. */
  readonly oldest?: number | undefined;
  readonly newest?: number | undefined;
  /** Start and end of all spans together, in ms since 1970; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** The first seq of each span, then the first seq after all spans. */
  readonly bounds: readonly number[];
  /** By kind or by room: the number of entries in each span. */
  readonly counts: Readonly<Record<string, readonly number[]>>;
  /** Some entries of each span that has many; empty for the other spans. */
  readonly samples?: readonly (readonly GardenEntry[])[] | undefined;
}
