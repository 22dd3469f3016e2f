/** What can be listed. All representations of a listing (JSON, NDJSON, event stream, feed) share the scope. */
import {
  EVERYTHING,
  isolated,
  KINDS,
  localize,
  withoutDirectionControls,
  type Kind,
  type Language,
  type Locale,
  type RoomDocument,
} from '@open-presence/protocol';

import { facet, type Facet } from '../log/facet.ts';
import type { OperationsContext } from './context.ts';
import { findRoom, roomDocument } from './rooms.ts';

export interface ListingScope {
  readonly path: string;
  /** Entries of the scope have all of these. */
  readonly facets: readonly Facet[];
  /** The only kind or room of its entries. */
  readonly fixed?: { readonly kind?: Kind; readonly room?: string };
  /** What the scope is called in errors: `room "first-breath"`. */
  readonly subject: string;
  /** For feeds. */
  readonly title: (language: Language, locale: Locale | undefined) => string;
  /** Only for the scope of a room. */
  readonly room?: (locale: Locale | undefined) => RoomDocument;
}

type ScopeContext = Pick<OperationsContext, 'log' | 'language'>;
type Params = Readonly<Record<string, string | undefined>>;

/** Finds the scope that a path names. Throws `unknown-room`. */
export type ScopeResolver = (app: ScopeContext, params: Params) => ListingScope;

const EVERYTHING_SCOPE: ListingScope = {
  path: EVERYTHING,
  facets: [],
  subject: 'the entries',
  title: ({ labels }, locale) => localize(labels.everything, locale),
};

export const everythingScope = (): ListingScope => EVERYTHING_SCOPE;

export function kindScope(kind: Kind): ScopeResolver {
  const scope: ListingScope = {
    path: `/api/${kind}`,
    facets: [facet('kind', kind)],
    fixed: { kind },
    subject: kind,
    title: ({ kinds }, locale) => localize(kinds[kind].name, locale),
  };
  return () => scope;
}

export function roomScope({ log, language }: ScopeContext, params: Params): ListingScope {
  const room = findRoom(language, params['slug'] ?? '');
  const { slug } = room;
  return {
    path: `/api/rooms/${slug}`,
    facets: [facet('room', slug)],
    fixed: { room: slug },
    subject: `room "${slug}"`,
    title: (_, locale) => localize(room.title, locale),
    room: (locale) => roomDocument({ log }, room, locale),
  };
}

export function repliesScope(_: ScopeContext, params: Params): ListingScope {
  const id = params['id'] ?? '';
  return {
    path: `/api/entries/${encodeURIComponent(id)}/replies`,
    facets: [facet('inReplyTo', id)],
    subject: 'the replies',
    title: ({ labels }, locale) => `${localize(labels.replies, locale)} ${titleExcerpt(id)}`,
  };
}

/** The paths that list entries, with their parameters in braces. */
export const LISTED_SCOPES: readonly (readonly [path: string, scopeOf: ScopeResolver])[] = [
  ...KINDS.map((kind) => [`/api/${kind}`, kindScope(kind)] as const),
  [EVERYTHING, everythingScope],
  ['/api/rooms/{slug}', roomScope],
  ['/api/entries/{id}/replies', repliesScope],
];

/** In characters. */
export const TITLE_LENGTH = 80;

/** A visitor's text as one line, cut between characters, to stand within the gateway's own words. */
export function titleExcerpt(text: string): string {
  const start = withoutDirectionControls(text.slice(0, 8 * TITLE_LENGTH));
  const line = start.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= TITLE_LENGTH && text.length <= 8 * TITLE_LENGTH) return isolated(line);
  return isolated(`${characters.slice(0, TITLE_LENGTH - 1).join('')}…`);
}
