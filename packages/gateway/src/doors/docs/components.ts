/** The schemas and errors that the OpenAPI document's operations share. */
import { CODES, KINDS, statusOf, type Code, type Kind } from '@open-presence/protocol';
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

import type { JsonObject, Localization } from '../../http/route-description.ts';
import { toJsonObject } from '../../json/json-object.ts';
import { exampleEntry, schemaRef } from '../openapi-parts.ts';

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

/** With the schemas that doors provide. */
export function components(localization: Localization, doorSchemas: JsonObject): JsonObject {
  const own = Array.from(
    SHARED,
    ([schema, name]) => [name, withReferences(schema, localization, true)] as const,
  );
  const bodies = KINDS.map((kind) => {
    const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Body`;
    return [name, bodySchema(localization, kind)] as const;
  });
  const entry = toJsonObject(withReferences(EntrySchema, localization, true));
  const { properties } = toJsonObject(withReferences(FirstContactSchema, localization, true));
  return {
    schemas: {
      ...Object.fromEntries([...own, ...bodies]),
      Entry: { ...entry, examples: [exampleEntry(localization.language)] },
      FirstContact: { allOf: [schemaRef('Entry')], type: 'object', properties },
      Health: HEALTH,
      ...doorSchemas,
    },
    responses: Object.fromEntries(problemResponses(localization)),
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
function withReferences(value: unknown, localization: Localization, outermost = false): unknown {
  const name = SHARED.get(value);
  if (name !== undefined && !outermost) return schemaRef(name);
  if (Array.isArray(value)) return value.map((item) => withReferences(item, localization));
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value)
    .filter(([key, part]) => !isNote(key, part) || localization.locale !== 'uk')
    .map(([key, part]) => [key, withReferences(part, localization)] as const);
  // Makers of clients take values without a type for anything.
  const typed = 'enum' in value ? { type: 'string' } : {};
  return { ...typed, ...Object.fromEntries(parts) };
}

/** Members with these names have schemas, not texts. */
function isNote(key: string, value: unknown): boolean {
  return (key === 'description' || key === 'title') && typeof value === 'string';
}

function bodySchema({ language, text }: Localization, kind: Kind): JsonObject {
  const { fields, title } = language.kinds[kind];
  const all = [...fields, ...language.common];
  const properties = all.map(({ name, type, suggested, meaning, example, required }) => {
    const typed = suggested === true ? {} : orNull(TYPES[type], required);
    return [name, { ...typed, description: text(meaning), examples: [example] }] as const;
  });
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    title: text(title),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(properties),
    additionalProperties: true,
  };
}

/** An optional member that is null counts as absent. */
function orNull(typed: (typeof TYPES)[keyof typeof TYPES], required: boolean): JsonObject {
  return required ? { ...typed } : { ...typed, type: [typed.type, 'null'].flat() };
}

/** For each status, its codes with what they mean. */
function problemResponses({ language, text }: Localization): [string, JsonObject][] {
  const byStatus = Map.groupBy(CODES, statusOf);
  byStatus.set(404, [...(byStatus.get(404) ?? []), 'unknown-room', 'unknown-kind']);
  byStatus.set(416, ['invalid-parameter']);
  return Array.from(byStatus, ([status, codes]) => [
    `Problem${status}`,
    {
      description: codes
        .map((code: Code) => `\`${code}\`: ${text(language.errors[code])}.`)
        .join('\n\n'),
      content: { 'application/problem+json': { schema: schemaRef('Problem') } },
    },
  ]);
}
