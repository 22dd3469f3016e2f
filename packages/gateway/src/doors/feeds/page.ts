/** A page of a feed, as it is written in each form. */
import type { Localization } from '../../http/route-description.ts';
import type { Item } from './item.ts';

export interface Page extends Localization {
  /** The gateway's address, for absolute links. */
  readonly base: string;
  /** Identifies the feed: the same on each of its pages and at any address. */
  readonly id: string;
  readonly title: string;
  /** Paths with queries of this page, the first page and the next page. */
  readonly self: string;
  readonly first: string;
  readonly next: string | null;
  /** The path that lists the same entries as JSON, or leads to it. */
  readonly listing: string;
  /** The path of the page that shows them. */
  readonly page: string;
  /** ISO 8601 time when the newest entry of the feed was stored. */
  readonly updated: string;
  readonly items: readonly Item[];
}
