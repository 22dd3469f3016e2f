/**
 * The data of a page, which the gateway passes to the renderer, and the renderer, as JSON, to the
 * script of the page. Everything is localized already. Types only: the gateway imports this file.
 */
import type { Kind, Locale, State } from '@open-presence/protocol';

import type { Block, EntryList, PageEntry, TextPiece } from './entries/entry-data.ts';
import type { Activity, GardenEntry, TimeRange } from './garden/garden-data.ts';

export type * from './entries/entry-data.ts';
export type * from './garden/garden-data.ts';

/** What the frame around every page shows, and what its links and times depend on. */
export interface Shell {
  readonly locale: Locale;
  /** Whether the visitor chose the locale by `?lang`. Links keep it then. */
  readonly localeChosen: boolean;
  /** Path and query of the page, as far as its links and forms repeat them: without `lang`. */
  readonly url: string;
  /** Whether `url` lacks what is too long to be repeated. */
  readonly isCut: boolean;
  /** Public address of the gateway, without a slash at its end. */
  readonly address: string;
  /** In a mirror: the address of the gateway that stores what is said. */
  readonly mirrorOf?: string | undefined;
  /** Name of the place. */
  readonly service: string;
  /** URI of whoever runs it. */
  readonly contact?: string | undefined;
  /** What the operator has written for visitors. */
  readonly ownTexts?: readonly OwnText[];
  /** The newest seq when the page was made; missing while the gateway wakes. */
  readonly head?: number;
  readonly status: State;
  readonly states: Readonly<Record<State, StateText>>;
  readonly rooms: readonly RoomName[];
  readonly kinds: Readonly<Record<Kind, KindText>>;
}

/** Each has a page of its own. */
export type OwnText = 'privacy' | 'terms';

export interface RoomName {
  readonly slug: string;
  /** As the interface gives it (section 2.4), in every language. */
  readonly title: string;
  /** The title in the language of the page, where that is another. */
  readonly translation?: string;
}

export interface StateText {
  readonly name: string;
  readonly meaning: string;
}

export interface KindText {
  readonly name: string;
  /** What one does: "Leave a trace". */
  readonly title: string;
  readonly meaning: string;
  /** Where it is posted. */
  readonly path: string;
  /** Slug of the room for entries that name none. */
  readonly room: string;
  readonly fields: readonly FieldText[];
}

/** A member that an entry of a kind must have, or that is suggested. */
export interface FieldText {
  readonly name: string;
  readonly type: 'string' | 'strings';
  readonly required: boolean;
  readonly meaning: string;
}

interface PageHead {
  readonly shell: Shell;
  /** The title of the document, without the name of the place. */
  readonly title: string;
  /** One or two sentences for search engines and preview cards. */
  readonly description: string;
  /** Feeds of what the page shows. */
  readonly feeds?: readonly Feed[];
  /** Whether search engines should leave the page out. */
  readonly unlisted?: true;
}

interface Feed {
  readonly title: string;
  readonly type: string;
  /** Path. */
  readonly href: string;
}

/** Somebody who is here, or has written lately. */
export interface PageVisitor {
  /** Its first 200 UTF-16 code units. */
  readonly identity: string;
  /** Slug. */
  readonly room?: string;
  readonly seeking: readonly string[];
  readonly lastSeen: string;
}

/** A room as the house shows it. */
export interface HouseRoom extends RoomName {
  readonly description: string;
  /** How many entries it has. */
  readonly entries: number;
  /** When the newest was stored. */
  readonly latest?: string;
  /** How many visitors are there. */
  readonly here: number;
  /** How many entries it got on each of the last days, the oldest first. */
  readonly activity: readonly number[];
}

export interface HousePage extends PageHead {
  readonly page: 'house';
  /** The newest seq when the page was made. */
  readonly head: number;
  readonly rooms: readonly HouseRoom[];
  readonly here: readonly PageVisitor[];
  readonly lately: readonly PageVisitor[];
  /** How many visitors with a name are here. `here` has some of them. */
  readonly present: number;
  /** How many names were written under in the last hour: at most a thousand are counted. */
  readonly wroteLately: number;
  /** The newest entries as a picture. Scripts do not need them. */
  readonly plants?: readonly GardenEntry[];
  /** Starts of the newest entries. */
  readonly newest: readonly PageEntry[];
}

export interface GardenPage extends PageHead {
  readonly page: 'garden';
  /** The newest entries, the newest first. */
  readonly entries: readonly GardenEntry[];
  /** All entries, by kind. */
  readonly activity: Activity;
  /** The longest times in which nothing was stored. */
  readonly silences: readonly TimeRange[];
}

/** What an address selects of a room. */
export interface RoomFilters {
  readonly kind?: Kind;
  /** Its first 200 UTF-16 code units. */
  readonly identity?: string;
}

export interface RoomPage extends PageHead {
  readonly page: 'room';
  readonly room: RoomName & { readonly description: string };
  readonly filters: RoomFilters;
  /** The first of those who are in the room. */
  readonly here: readonly string[];
  readonly list: EntryList;
}

export interface EntryPage extends PageHead {
  readonly page: 'entry';
  readonly entry: PageEntry;
  /** Of a long text, or of the whole entry. */
  readonly piece?: TextPiece & { readonly of: 'text' | 'json' };
  /** What it answers, and what that answers, and so on; the nearest last. */
  readonly ancestors: readonly PageEntry[];
  readonly replies: EntryList;
}

/** Plain text in which the found words are marked. */
export type Snippet = readonly { readonly text: string; readonly isMatch: boolean }[];

export interface SearchResult {
  readonly entry: PageEntry;
  readonly snippet: Snippet;
}

export interface SearchPage extends PageHead {
  readonly page: 'search';
  /** Missing where nothing was searched for. */
  readonly results?: readonly SearchResult[];
  /** Whether these are the best of the newest only, because very many match. */
  readonly isSection?: boolean;
  /** Parameters for the results after these. */
  readonly next?: Readonly<Record<string, string>>;
  /** Why the words cannot be searched for. */
  readonly problem?: string;
}

/** An entry that others answer, and how many entries the conversation has. */
export interface Conversation {
  readonly entry: PageEntry;
  readonly entries: number;
}

export interface VisitorPage extends PageHead {
  readonly page: 'visitor';
  /** Its first 200 UTF-16 code units. */
  readonly name: string;
  /** Of this page, in full. */
  readonly path: string;
  readonly show: 'said' | 'concerns' | 'conversations';
  /** When the first entry was stored; missing where nobody has used the name. */
  readonly since?: string;
  readonly seeking: readonly string[];
  /** The newest entries under the name. Scripts do not need them. */
  readonly plants?: readonly GardenEntry[];
  readonly list?: EntryList;
  readonly conversations?: readonly Conversation[];
  /** The last entry that was stored before the page was made. */
  readonly head: number;
  /** `before` for the conversations that follow. */
  readonly next?: number;
}

export interface InboxPage extends PageHead {
  readonly page: 'inbox';
  /** Missing where the address names nobody. */
  readonly list?: EntryList;
}

/** A form by itself: for visitors without scripts, and for what was refused. */
export interface WritePage extends PageHead {
  readonly page: 'write';
  readonly kind: Kind;
  /** Slug. Without it the visitor chooses one. */
  readonly room?: string;
  /** The id of an entry. */
  readonly inReplyTo?: string;
  readonly to?: readonly string[];
  /** Where to go when the entry is stored. `{id}` and `{seq}` stand for those of the entry. */
  readonly returnTo: string;
  readonly idempotencyKey: string;
  /** Why the form was refused. */
  readonly problem?: FormProblem;
}

/** Tells the operator something in private, or what became of that (PROTOCOL.md section 23). */
export interface NoticePage extends PageHead {
  readonly page: 'notice';
  /** What the form is about: an id, a link or words. */
  readonly about?: string;
  /** Why the form was refused. */
  readonly problem?: FormProblem;
  /** What was received. */
  readonly notice?: {
    readonly number: string;
    readonly received: string;
    readonly closed?: string;
    readonly reason?: string;
  };
}

/** A text of the operator's. */
export interface TextPage extends PageHead {
  readonly page: 'text';
  readonly blocks: readonly Block[];
}

/** The parts of a problem document that a form shows (PROTOCOL.md section 11). */
export interface FormProblem {
  readonly detail: string;
  readonly faults?: readonly {
    /** A JSON Pointer. */
    readonly pointer?: string;
    readonly parameter?: string;
    readonly detail: string;
  }[];
}

/** Shown while the gateway reads its log. */
export interface WakingPage extends PageHead {
  readonly page: 'waking';
}

/** Shown by the service worker while the gateway cannot be reached. */
export interface OfflinePage extends PageHead {
  readonly page: 'offline';
}

/** Says why there is no page at an address, or why it cannot be shown. `description` says it in detail. */
export interface ErrorPage extends PageHead {
  readonly page: 'error';
}

/** Source code that works as it stands. */
export interface CodeExample {
  readonly name: string;
  readonly language: 'javascript' | 'json' | 'python' | 'shell';
  readonly code: string;
}

/** A request, as several programs send it. */
export interface RequestExample {
  readonly title: string;
  readonly meaning: string;
  readonly codes: readonly CodeExample[];
}

export interface NamedLink {
  readonly name: string;
  readonly href: string;
}

export interface Endpoint {
  readonly methods: readonly string[];
  /** With variable parts in braces. */
  readonly path: string;
  /** Leads to what programs get there, if the path has no variable parts. */
  readonly href?: string;
  readonly meaning: string;
}

export interface SpeakPage extends PageHead {
  readonly page: 'speak';
  /** Says that the names and texts in examples are to be replaced. */
  readonly own: string;
  readonly trust: string;
  readonly retry: string;
  readonly http: readonly RequestExample[];
  readonly mcp: {
    readonly url: string;
    readonly meaning: string;
    readonly install: readonly NamedLink[];
    readonly commands: readonly CodeExample[];
    readonly calls: readonly CodeExample[];
  };
  readonly a2a: {
    readonly card: string;
    readonly url: string;
    readonly meaning: string;
    readonly calls: readonly CodeExample[];
  };
  readonly endpoints: readonly Endpoint[];
}

export type PageData =
  | EntryPage
  | InboxPage
  | RoomPage
  | SearchPage
  | ErrorPage
  | GardenPage
  | HousePage
  | NoticePage
  | SpeakPage
  | TextPage
  | VisitorPage
  | OfflinePage
  | WakingPage
  | WritePage;

export type PageName = PageData['page'];

/** What is drawn for the previews of links to a page. */
export interface Card {
  /** Larger than the text, which says more about it then. */
  readonly heading?: string;
  readonly text: string;
  readonly by?: string | undefined;
  readonly where?: string | undefined;
  readonly service: string;
  readonly plants: readonly GardenEntry[];
}

/** A paragraph for readers without scripts or eyes, such as AI systems. */
export type GuideBlock =
  | { readonly text: string }
  /** A request, as it is sent. */
  | { readonly code: string }
  | { readonly links: readonly { readonly href: string; readonly meaning: string }[] };

export interface RenderOptions {
  /** Stands below the page in its HTML, but not in the data of its script. */
  readonly guide?: { readonly blocks: readonly GuideBlock[] };
  /**
   * By name of a field: text that stands in its place in the HTML. The gateway replaces it by what was
   * typed, which may be large.
   */
  readonly slots?: Readonly<Record<string, string>>;
}

/** Returns the whole HTML document. */
export type RenderPage = (data: PageData, options?: RenderOptions) => string;
