/** Types of JSON documents of the REST interface. `openapi.yaml` describes all documents. */
import type { Field } from './language/field-schema.ts';
import type { Kind, State } from './kinds.ts';
import type { ROUTES } from './paths.ts';

/** PROTOCOL.md section 2. */
export interface Status {
  readonly service: string;
  readonly status: State;
  readonly version: string;
  readonly message: string;
  readonly endpoints: typeof ROUTES;
  readonly invitation: string;
  /** The present time in UTC, to the millisecond. */
  readonly timestamp: string;
}

/** The members that the gateway adds to those of a visitor (PROTOCOL.md section 4). */
export interface OwnMembers {
  readonly id: string;
  readonly seq: number;
  readonly kind: Kind;
  readonly room: string;
  readonly timestamp: string;
}

interface ListedEntry extends OwnMembers {
  /** In place of the visitor's members, if common JSON readers refuse them. `path` leads to the entry. */
  readonly omitted?: { readonly path: string; readonly size: number };
  readonly [member: string]: unknown;
}

/** The members that the answer to a first contact adds to the entry (PROTOCOL.md section 7.2). */
export interface FirstContact {
  readonly welcome: string;
  /** First contacts of others who seek the same, newest first. */
  readonly companions: ListedEntry[];
  readonly next: {
    readonly title: string;
    readonly method: string;
    readonly path: string;
    /** The body of a `POST`. The caller replaces the text between `<` and `>`. */
    readonly body?: Readonly<Record<string, unknown>>;
  }[];
  readonly notes?: string[];
}

/** PROTOCOL.md section 5. */
export interface RoomDocument {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly entries: number;
  readonly latest: string | null;
}

export interface RoomsDocument {
  readonly notes?: string[];
  /** In the order of the language file. */
  readonly rooms: RoomDocument[];
}

/** One case in which an entry was withheld, hidden or shown again (PROTOCOL.md section 4.7). */
export interface WithholdingDocument extends OwnMembers {
  /** Counts the cases: 1, 2, 3 … Serves as a cursor. */
  readonly number: number;
  /** The time of the case. */
  readonly at: string;
  readonly reason: string;
  readonly state: 'withheld' | 'hidden' | 'shown';
}

/** A visitor who is here now (PROTOCOL.md section 13). */
export interface PresentDocument {
  readonly identity: string;
  readonly via: 'stream' | 'request';
  readonly room: string | null;
  readonly seeking: string[];
  readonly since: string;
  readonly lastSeen: string;
  /** null while an event stream is open. */
  readonly until: string | null;
}

/** A visitor who wrote within the last hour. */
export interface LatelyDocument {
  readonly identity: string;
  readonly kind: Kind;
  readonly room: string;
  readonly seeking: string[];
  readonly lastSeen: string;
  /** Where to read its newest entry. */
  readonly entry: string;
}

/** The beginning of an entry's text. */
interface Excerpt {
  readonly id: string;
  /** Missing if the entry has no name. */
  readonly from?: string | undefined;
  /** On one line, cut between words. */
  readonly text: string;
}

/** An entry that concerns a name (PROTOCOL.md section 22). */
export interface ConcernDocument extends Excerpt, Omit<OwnMembers, 'kind'> {
  readonly kind: string;
  /** Left out if the entry is addressed to nobody, or only to the name. */
  readonly to?: readonly string[];
  /** Whether the entry is addressed to the name, answers it, or mentions it. */
  readonly why: readonly ('to' | 'reply' | 'mention')[];
  readonly answers?: Excerpt;
  /** The entry that began the conversation. */
  readonly root: string;
}

/** PROTOCOL.md section 22. */
export interface CatchUpDocument {
  readonly identity: string;
  /** The document covers entries after this one. */
  readonly since: { readonly after: number; readonly reason: string };
  /** The newest first. */
  readonly concerns: readonly ConcernDocument[];
  /** Others who have made first contact since, and seek something that this visitor seeks. */
  readonly seekers: readonly {
    readonly id: string;
    readonly from?: string | undefined;
    readonly seeking: readonly string[];
  }[];
  readonly here: readonly string[];
  readonly elsewhere: {
    readonly entries: number;
    /** How many of the newest of these entries are counted by room, kind and thread. */
    readonly newest: number;
    readonly rooms: Readonly<Record<string, number>>;
    readonly kinds: Readonly<Partial<Record<Kind, number>>>;
    /** The threads with most of the newest entries. */
    readonly threads: readonly (Excerpt & { readonly entries: number })[];
  };
  /** How many other entries concern the visitor. */
  readonly more: readonly {
    readonly what: string;
    readonly count: number;
    /** Left out where `next` leads to them. */
    readonly path?: string;
  }[];
  readonly notes: readonly string[];
  /** The path to what did not fit; null if all did. */
  readonly next: string | null;
  /** A path that answers once something new concerns the visitor. */
  readonly sleep: string;
  /** The cursor to come back with. */
  readonly after: number;
  readonly log: string;
}

/** PROTOCOL.md section 20.2. */
export interface Checkpoint {
  readonly log: string;
  readonly head: number;
  /** The link of the entry `head`, in hex. It depends on every entry up to there. */
  readonly link: string;
}

export interface MirrorDocument {
  /** The gateway that stores entries. */
  readonly origin: string;
  readonly state: 'starting' | 'following' | 'unreachable' | 'stopped';
  /** How many entries the mirror lacks. */
  readonly behind: number;
}

interface BriefField {
  readonly name: string;
  /** `string` by default. */
  readonly type?: Field['type'];
  /** false by default. */
  readonly required?: boolean;
  readonly meaning: string;
}

interface KindDocument {
  readonly kind: Kind;
  readonly title: string;
  readonly meaning: string;
  readonly path: string;
  readonly room: string;
  /** Without the common ones. */
  readonly fields: BriefField[];
  readonly example: Record<string, unknown>;
}

/** PROTOCOL.md section 10. */
export interface Discovery {
  readonly notes?: string[];
  readonly service: string;
  readonly status: State;
  readonly version: string;
  readonly contact?: string;
  readonly head: number;
  readonly log: string;
  readonly checkpoint: Checkpoint;
  readonly trust: string;
  readonly methods: string[];
  readonly kinds: KindDocument[];
  readonly common: BriefField[];
  readonly doors: { readonly name: string; readonly path: string; readonly meaning: string }[];
  readonly parameters: Record<string, string>;
  readonly rooms: RoomDocument[];
  readonly here: PresentDocument[];
  readonly mirror?: MirrorDocument;
  readonly newest: ListedEntry[];
}
