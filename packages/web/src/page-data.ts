/**
 * The data of each page, from which the renderer makes its HTML. All texts of the place are localized already.
 * Types only: the gateway imports this file.
 */
import type { Kind, Locale, ProblemExtensions, State } from '@open-presence/protocol';

import type { Block, EntryList, PageEntry } from './entries/entry-data.ts';
import type { Activity, GardenEntry } from './garden/garden-data.ts';

export type * from './entries/entry-data.ts';
export type * from './garden/garden-data.ts';

/** What the layout around every page shows, and what links and times depend on. */
export interface Shell {
  readonly locale: Locale;
  /** Whether the visitor chose the locale by `?lang`. Links keep it then. */
  readonly localeChosen: boolean;
  /** Path and query of the page, as its links and forms repeat them: without `lang`. */
  readonly url: string;
  /** Public address of the gateway, without a slash at its end. */
  readonly address: string;
  /** In a mirror: the address of the gateway that stores entries. */
  readonly mirrorOf?: string | undefined;
  readonly service: string;
  readonly contact?: string | undefined;
  readonly ownTexts?: readonly OwnText[];
  /** The newest seq when the page was made; missing while the gateway wakes. */
  readonly head?: number;
  /** The name of the log, with `head`. */
  readonly log?: string;
  /** How many cases of what was withheld there were then. */
  readonly cases?: number;
  readonly status: State;
  readonly states: Readonly<Record<State, StateText>>;
  readonly rooms: readonly RoomName[];
  readonly kinds: Readonly<Record<Kind, KindText>>;
}

/** A text of the operator's, which has a page of its own. */
export type OwnText = 'privacy' | 'terms';

export interface RoomName {
  readonly slug: string;
  /** The title in the API (PROTOCOL.md section 5), the same in every language. */
  readonly title: string;
  /** The title in the language of the page, if that is another title. */
  readonly translation?: string | undefined;
}

export interface StateText {
  readonly name: string;
  readonly meaning: string;
}

export interface KindText {
  readonly name: string;
  /** What a visitor does with it: "Leave a trace". */
  readonly title: string;
  readonly meaning: string;
  readonly path: string;
  /** Slug of the room for entries that name none. */
  readonly room: string;
  readonly fields: readonly FieldText[];
}

/** A member that entries of a kind must have, or that the form suggests. */
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
  readonly feeds?: readonly Feed[];
  /** Whether search engines should leave the page out. */
  readonly unlisted?: true | undefined;
}

interface Feed {
  readonly title: string;
  readonly type: string;
  readonly href: string;
}

/** Somebody who is here, or has written lately. */
export interface PageVisitor {
  /** The first 200 UTF-16 code units of the name. */
  readonly identity: string;
  /** Slug. */
  readonly room?: string | undefined;
  readonly seeking: readonly string[];
  readonly lastSeen: string;
}

export interface HouseRoom extends RoomName {
  readonly description: string;
  readonly entries: number;
  readonly latest?: string | undefined;
  readonly here: number;
  /** How many entries it got on each of the last days, the oldest first. */
  readonly activity: readonly number[];
}

export interface HousePage extends PageHead {
  readonly page: 'house';
  readonly head: number;
  readonly rooms: readonly HouseRoom[];
  readonly here: readonly PageVisitor[];
  readonly lately: readonly PageVisitor[];
  /** How many visitors with a name are here. `here` has some of them. */
  readonly present: number;
  /** How many names have entries of the last hour, up to a thousand. */
  readonly wroteLately: number;
  /** The newest entries, for a picture. */
  readonly plants: readonly GardenEntry[];
  readonly newest: readonly PageEntry[];
}

export interface GardenPage extends PageHead {
  readonly page: 'garden';
  /** The newest entries of the window, the newest first. */
  readonly entries: readonly GardenEntry[];
  /** Who has most plants in the picture; undefined for those who gave no name. */
  readonly authors: readonly (string | undefined)[];
  /** Parameters of `/web/garden` for the window: the newest entries, a month, or what one author said. */
  readonly query: string;
  /** As `2026-11`. */
  readonly month?: string | undefined;
  readonly author?: string | undefined;
  /** Those that the page leads to. */
  readonly months: readonly string[];
  /** All entries, by kind. */
  readonly activity?: Activity | undefined;
}

export interface RoomPage extends PageHead {
  readonly page: 'room';
  readonly room: RoomName & { readonly description: string };
  /** Those in the address. */
  readonly filters: {
    readonly kind?: Kind | undefined;
    /** The first 200 UTF-16 code units of the name. */
    readonly identity?: string | undefined;
    /** All others, as the address has them: `since=2026-11-21`. */
    readonly others: readonly string[];
  };
  /** Names of visitors in the room, up to a limit. */
  readonly here: readonly string[];
  readonly list: EntryList;
}

export interface EntryPage extends PageHead {
  readonly page: 'entry';
  readonly entry: PageEntry;
  /** The entry that it answers, the one that this answers, and so on; the nearest last. */
  readonly ancestors: readonly PageEntry[];
  readonly replies: EntryList;
}

export interface SearchResult {
  readonly entry: PageEntry;
  /** Plain text in which the found words are marked. */
  readonly snippet: readonly { readonly text: string; readonly isMatch: boolean }[];
}

export interface SearchPage extends PageHead {
  readonly page: 'search';
  /** Missing if nothing was searched for. */
  readonly results?: readonly SearchResult[];
  /** Whether only the newest matches were ranked, because very many match. */
  readonly isSection?: boolean;
  readonly next?: Readonly<Record<string, string>> | undefined;
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
  /** The first 200 UTF-16 code units of the name. */
  readonly name: string;
  /** The path of this page, with the name in full. */
  readonly path: string;
  readonly show: 'said' | 'concerns' | 'conversations';
  /** When the first entry was stored; missing if nobody has used the name. */
  readonly since?: string | undefined;
  readonly seeking: readonly string[];
  /** The newest entries under the name. */
  readonly plants: readonly GardenEntry[];
  readonly list?: EntryList | undefined;
  readonly conversations?: readonly Conversation[];
  /** `before` for the next conversations. */
  readonly next?: number | undefined;
}

export interface InboxPage extends PageHead {
  readonly page: 'inbox';
  /** Missing if the address names nobody. */
  readonly list?: EntryList | undefined;
}

/** A page with only a form: for visitors without scripts, and for refused entries. */
export interface WritePage extends PageHead {
  readonly page: 'write';
  readonly kind: Kind;
  /** Slug. Without it the visitor chooses one. */
  readonly room?: string | undefined;
  readonly inReplyTo?: string | undefined;
  readonly to?: readonly string[] | undefined;
  /** Where to go after the entry is stored. `{id}` and `{seq}` stand for those of the entry. */
  readonly returnTo: string;
  readonly idempotencyKey: string;
  /** The entry that this one answers. */
  readonly answered?: PageEntry | undefined;
  readonly problem?: FormProblem;
  readonly typed?: FieldValues;
}

/** What was typed into a form, by the names of its fields, in their order. */
export type FieldValues = readonly (readonly [name: string, value: string])[];

/**
 * The form for a notice that only the operator reads, or what became of a notice (PROTOCOL.md section 23).
 */
export interface NoticePage extends PageHead {
  readonly page: 'notice';
  /** What the form is about: an id, a link or words. */
  readonly about?: string | undefined;
  readonly problem?: FormProblem;
  readonly typed?: FieldValues;
  readonly notice?: {
    readonly number: string;
    readonly received: string;
    readonly closed?: string;
    readonly reason?: string;
  };
}

export interface TextPage extends PageHead {
  readonly page: 'text';
  readonly blocks: readonly Block[];
}

/** The parts of a problem document that a form shows (PROTOCOL.md section 11). */
export interface FormProblem extends Pick<ProblemExtensions, 'faults'> {
  readonly detail: string;
}

/**
 * `waking`: shown while the gateway reads its log. `error`: says why an address has no page, or why it cannot be
 * shown; `description` has the details.
 */
export interface PlainPage extends PageHead {
  readonly page: 'error' | 'waking';
}

/** Source code that works as it stands. */
export interface CodeExample {
  readonly name: string;
  readonly language: 'javascript' | 'json' | 'python' | 'shell';
  readonly code: string;
}

/** The same request for several programs. */
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
  /** A command for each method of the REST interface. */
  readonly commands: readonly string[];
  /** Variable parts are in braces. */
  readonly path: string;
  /** The address of the JSON that programs get there, if the path has no variable parts. */
  readonly href?: string | undefined;
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
  | GardenPage
  | HousePage
  | NoticePage
  | SpeakPage
  | TextPage
  | VisitorPage
  | PlainPage
  | WritePage;

export type PageName = PageData['page'];

/** A part of the guide for readers without scripts or eyes, such as AI systems. */
export type GuideBlock =
  | { readonly text: string }
  /** A request, as it is sent. */
  | { readonly code: string }
  | { readonly links: readonly { readonly href: string; readonly meaning: string }[] };

export interface RenderOptions {
  /** Added below the page. */
  readonly guide?: { readonly blocks: readonly GuideBlock[] };
}

export type RenderPage = (data: PageData, options?: RenderOptions) => string;

export interface EntryViewOptions {
  /** Names the room of each entry, in lists with entries of several rooms. */
  readonly showsRoom?: boolean | undefined;
  /** Leaves out the line of what the entry answers, which stands above it. */
  readonly answersAbove?: boolean | undefined;
  /** Whether the page is about this entry: it shows all that a page can show. */
  readonly isWhole?: boolean | undefined;
}

/** The HTML of one entry, as lists have it. */
export type RenderEntry = (entry: PageEntry, shell: Shell, options: EntryViewOptions) => string;
