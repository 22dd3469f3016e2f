/** A page of a feed, as it is written in each form. */
import type { Localization } from '../../http/route-description.ts';
import type { Item } from './item.ts';

/** Paths with queries. */
interface PageLinks {
  /** The addresses of this page and of the first page. */
  readonly self: string;
  readonly first: string;
  /** Lists the same entries as JSON, or leads to it. */
  readonly listing: string;
}

export interface Page extends Localization {
  /** The gateway's address, for absolute links. */
  readonly base: string;
  /** Identifies the feed: the same on each of its pages and at any address. */
  readonly id: string;
  readonly title: string;
  /** Undefined where they would be very long. */
  readonly links: PageLinks | undefined;
  /** Path and query of the next page. */
  readonly next: string | null;
  /** The path of the page that shows them. */
  readonly page: string;
  /** ISO 8601 time when the newest entry of the feed was stored. */
  readonly updated: string;
  readonly items: readonly Item[];
}
