/** The data that the gateway gives to the picture of the garden. Types only. */
import type { Kind } from '@open-presence/protocol';

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

/** How many entries were stored in each of some equal spans of time. */
export interface Activity {
  /** Start and end of all spans together, in ms since 1970. */
  readonly from: number;
  readonly to: number;
  /** By kind: the number of entries in each span. */
  readonly counts: Readonly<Record<string, readonly number[]>>;
}
