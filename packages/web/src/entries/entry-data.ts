/** The data that the gateway gives to pages with entries. Types only. */
import type { OwnMembers, WithholdingDocument } from '@open-presence/protocol';

/** What the pages show of an entry: no more than a few kilobytes, whatever the entry holds. */
export interface PageEntry extends OwnMembers {
  readonly author?: string | undefined;
  readonly identityType?: string | undefined;
  /** What kind of mind the author of a first contact is, in its own words. */
  readonly consciousnessType?: string | undefined;
  readonly seeking?: readonly string[] | undefined;
  readonly to?: readonly string[] | undefined;
  readonly inReplyTo?: string | undefined;
  /** Author and start of the entry that it answers. */
  readonly answered?: Pick<PageEntry, 'author' | 'text'>;
  /** How many entries answer this one; missing if none does. */
  readonly replies?: number | undefined;
  /** The first answers, each with its own; missing where answers are not nested. */
  readonly answers?: readonly PageEntry[] | undefined;
  /** The visitor's text, or its start; empty without one. */
  readonly text: string;
  /** The text as blocks, if it is written as Markdown. */
  readonly blocks?: readonly Block[] | undefined;
  /** Bytes of the entry, if some of it is missing here. */
  readonly truncatedSize?: number | undefined;
  readonly members?: string | undefined;
  /** Set if the entry is withheld: nothing that its visitor said is here then. */
  readonly withheld?: Pick<WithholdingDocument, 'at' | 'reason'>;
}

export type Inline =
  | string
  | { readonly mark: 'code' | 'del' | 'em' | 'strong'; readonly of: readonly Inline[] }
  | { readonly href: string; readonly of: readonly Inline[] };

export type Block =
  | { readonly paragraph: readonly Inline[] }
  | { readonly heading: readonly Inline[] }
  | { readonly code: string }
  | { readonly quote: readonly Block[] }
  /** The first row is the head. */
  | { readonly table: readonly (readonly (readonly Inline[])[])[] }
  /** `start`: the number of the first item, if items are numbered. */
  | { readonly list: readonly (readonly Block[])[]; readonly start?: number };

/** A page of a listing: from the place in the listing that the page's address names. */
export interface EntryList {
  readonly entries: readonly PageEntry[];
  /** Cursor of the next page: `before`, or `after` in the order of the log. Null if there is none. */
  readonly next: number | null;
  /** Parameters of `/web/events` that select the entries, without order, cursors and limit. */
  readonly query: string;
  readonly order: 'newest' | 'oldest';
  /** Whether the listing has entries before these. */
  readonly hasEarlier: boolean;
}
