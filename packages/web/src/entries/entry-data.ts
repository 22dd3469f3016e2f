/** What the gateway gives the pages of entries. Types only. */
import type { OwnMembers } from '@open-presence/protocol';

/** What the pages show of an entry: no more than a few kilobytes, whatever the entry holds. */
export interface PageEntry extends OwnMembers {
  readonly author?: string;
  readonly identityType?: string;
  /** What kind of mind the author of a first contact is, in its own words. */
  readonly consciousnessType?: string;
  /** What the author of a first contact seeks. */
  readonly seeking?: readonly string[];
  readonly to?: readonly string[];
  /** What the entry names as what it answers: an id, a path or a URL, if the visitor wrote one of these. */
  readonly inReplyTo?: string;
  /** The start of that entry. */
  readonly answered?: { readonly author?: string; readonly text: string };
  /** How many entries answer this one; missing where none does. */
  readonly replies?: number;
  /** The first of them, with their own; missing where answers are not nested. */
  readonly answers?: readonly PageEntry[];
  /** The visitor's text, empty without one; of a long one its first 2,000 UTF-16 code units. */
  readonly text: string;
  /** The text as blocks, where it is written as Markdown. */
  readonly blocks?: readonly Block[];
  /** Bytes of the entry, where anything of it is left out or shown only by its start. */
  readonly truncatedSize?: number;
  /** Members beside those that have a place of their own, as JSON text. */
  readonly members?: string;
  readonly unreadable?: true;
  /** Set where what was said was taken away. */
  readonly withheld?: Withheld;
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
  /** `start`: the number of the first item, where they are numbered. */
  | { readonly list: readonly (readonly Block[])[]; readonly start?: number };

export interface Withheld {
  /** ISO 8601. */
  readonly at: string;
  readonly reason: string;
}

/** Some entries of a listing, in its order. */
export interface EntryBatch {
  readonly entries: readonly PageEntry[];
  /** Later entries came after it was read. */
  readonly head: number;
  /** `before`, or in the order of the log `after`, of the batch that follows; null if none does. */
  readonly next: number | null;
}

/** A listing as a page shows it first: from the place on that the address of the page names. */
export interface EntryList extends EntryBatch {
  /** Parameters of `/web/entries` that select the entries, without order, cursors and limit. */
  readonly query: string;
  readonly order: 'newest' | 'oldest';
  /** Whether the listing has entries in front of these. */
  readonly hasEarlier: boolean;
}

/** A piece of a long text. */
export interface TextPiece {
  readonly text: string;
  /** Its number, from 1. */
  readonly part: number;
  /** How many pieces the text has. */
  readonly parts: number;
}
