/** The schemas and errors that the OpenAPI document's operations share. */
import {
  CODES,
  KINDS,
  localize,
  statusOf,
  type Code,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';
import {
  DiscoverySchema,
  EntrySchema,
  FirstContactSchema,
  ListingSchema,
  PresenceSchema,
  SearchSchema,
  ProblemSchema,
  RoomListingSchema,
  RoomSchema,
  RoomsSchema,
  StatusSchema,
} from '@open-presence/protocol/schemas';

import { shownEntry } from './examples.ts';

export type Json = Record<string, unknown>;

/** What a document is written with: a language, and the locale of the caller. */
export interface Voice {
  readonly language: Language;
  readonly locale: Locale | undefined;
}

const SHARED: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [DiscoverySchema, 'Discovery'],
  [EntrySchema, 'Entry'],
  [ListingSchema, 'Listing'],
  [PresenceSchema, 'Presence'],
  [SearchSchema, 'Search'],
  [ProblemSchema, 'Problem'],
  [RoomListingSchema, 'RoomListing'],
  [RoomSchema, 'Room'],
  [RoomsSchema, 'Rooms'],
  [StatusSchema, 'Status'],
]);

const TYPES = {
  string: { type: 'string' },
  strings: { type: 'array', items: { type: 'string' } },
  'string or strings': { type: ['string', 'array'], items: { type: 'string' } },
} as const;

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A reference to a schema that operations share. */
export function schema(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** A reference to the errors that have this status. */
export function problem(status: number): Json {
  return { $ref: `#/components/responses/Problem${status}` };
}

/** With schemas of others, by their names. */
export function componentsOf(voice: Voice, others: Json): Json {
  const own = Array.from(SHARED, ([one, name]) => [name, respelled(one, voice, true)] as const);
  const bodies = KINDS.map((kind) => [`${capital(kind)}Body`, bodyOf(voice, kind)] as const);
  const { properties } = objectOf(respelled(FirstContactSchema, voice, true));
  const entry = { ...objectOf(respelled(EntrySchema, voice, true)), examples: [shownEntry(voice)] };
  const contact = { allOf: [schema('Entry')], type: 'object', properties };
  return {
    schemas: {
      ...Object.fromEntries([...own, ...bodies]),
      Entry: entry,
      FirstContact: contact,
      Health: HEALTH,
      ...others,
    },
    responses: Object.fromEntries(problemsOf(voice)),
  };
}

const HEALTH = {
  type: 'object',
  required: ['status'],
  properties: { status: { $ref: '#/components/schemas/Status/properties/status' } },
  additionalProperties: false,
};

/**
 * The schema as JSON, with references to those that are shared. The schemas' own notes are in
 * English: a document in Ukrainian has none of them.
 */
function respelled(value: unknown, voice: Voice, outermost = false): unknown {
  const name = SHARED.get(value);
  if (name !== undefined && !outermost) return schema(name);
  if (Array.isArray(value)) return value.map((one) => respelled(one, voice));
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value)
    .filter(([key, part]) => !isNote(key, part) || voice.locale !== 'uk')
    .map(([key, part]) => [key, respelled(part, voice)] as const);
  // Makers of clients take values without a type for anything.
  const typed = 'enum' in value ? { type: 'string' } : {};
  return { ...typed, ...Object.fromEntries(parts) };
}

/** Members with these names have schemas, not texts. */
function isNote(key: string, value: unknown): boolean {
  return (key === 'description' || key === 'title') && typeof value === 'string';
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function bodyOf({ language, locale }: Voice, kind: Kind): Json {
  const { fields, title } = language.kinds[kind];
  const all = [...fields, ...language.common];
  const properties = all.map(({ name, type, suggested, meaning, example, required }) => {
    const typed = suggested === true ? {} : orNull(TYPES[type], required);
    return [
      name,
      { ...typed, description: localize(meaning, locale), examples: [example] },
    ] as const;
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    title: localize(title, locale),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(properties),
    additionalProperties: true,
  };
}

/** An optional member that is null counts as absent. */
function orNull(typed: (typeof TYPES)[keyof typeof TYPES], required: boolean): Json {
  return required ? { ...typed } : { ...typed, type: [typed.type, 'null'].flat() };
}

/** For each status, its codes with what they mean. */
function problemsOf({ language, locale }: Voice): [string, Json][] {
  const byStatus = Map.groupBy(CODES, statusOf);
  byStatus.set(404, [...(byStatus.get(404) ?? []), 'unknown-room', 'unknown-kind']);
  return Array.from(byStatus, ([status, codes]) => [
    `Problem${status}`,
    {
      description: codes.map((code: Code) => worded(language, code, locale)).join('\n\n'),
      content: { 'application/problem+json': { schema: schema('Problem') } },
    },
  ]);
}

function worded({ errors }: Language, code: Code, locale: Locale | undefined): string {
  return `\`${code}\`: ${localize(errors[code], locale)}.`;
}
