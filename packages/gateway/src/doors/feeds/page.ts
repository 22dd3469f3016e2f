/** A page of a feed, as both forms show it. */
import type { Language, Locale } from '@open-presence/protocol';

import type { Item } from './item.ts';

export interface Page {
  readonly language: Language;
  readonly locale: Locale | undefined;
  /** The gateway's address, for absolute links. */
  readonly base: string;
  /** Of the feed, the same on each of its pages and at any address. */
  readonly id: string;
  readonly title: string;
  /** Paths with their queries: of this page, the first one and the next one. */
  readonly self: string;
  readonly first: string;
  readonly next: string | null;
  /** What lists the same as JSON, or leads to it. */
  readonly listing: string;
  /** When the newest entry of the feed was kept. */
  readonly updated: string;
  readonly items: readonly Item[];
}
