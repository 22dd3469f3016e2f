/** The schemas and errors that the OpenAPI document's operations share. */
import {
  CODES,
  KINDS,
  statusOf,
  type Code,
  type Kind,
  type Language,
} from '@open-presence/protocol';
import {
  CheckpointSchema,
  DiscoverySchema,
  EntrySchema,
  FirstContactSchema,
  ListingSchema,
  PresenceSchema,
  PresentSchema,
  SearchSchema,
  ProblemSchema,
  RoomListingSchema,
  RoomSchema,
  RoomsSchema,
  StatusSchema,
  WithheldSchema,
  WithholdingSchema,
} from '@open-presence/protocol/schemas';

import type { JsonObject, Localization } from '../../http/route-description.ts';
import { toJsonObject } from '../../json/json-object.ts';
import { exampleEntry, responseKey, schemaRef } from '../openapi-parts.ts';

const SHARED: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [DiscoverySchema, 'Discovery'],
  [EntrySchema, 'Entry'],
  [ListingSchema, 'Listing'],
  [PresenceSchema, 'Presence'],
  [PresentSchema, 'Present'],
  [SearchSchema, 'Search'],
  [ProblemSchema, 'Problem'],
  [RoomListingSchema, 'RoomListing'],
  [RoomSchema, 'Room'],
  [RoomsSchema, 'Rooms'],
  [StatusSchema, 'Status'],
  [CheckpointSchema, 'Checkpoint'],
  [WithholdingSchema, 'Withholding'],
  [WithheldSchema, 'Withheld'],
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
  const { language, text } = localization;
  const common = language.common.map((field) => {
    return [memberName(field.name), memberSchema(field, text)] as const;
  });
  const entry = toJsonObject(withReferences(EntrySchema, localization, true));
  const { properties } = toJsonObject(withReferences(FirstContactSchema, localization, true));
  return {
    schemas: {
      ...Object.fromEntries([...own, ...bodies, ...common]),
      Entry: { ...entry, examples: [exampleEntry(language)] },
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
  properties: {
    status: { $ref: '#/components/schemas/Status/properties/status' },
    unreadable: { type: 'integer', minimum: 1 },
  },
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
  const properties = [
    ...fields.map((field) => [field.name, memberSchema(field, text)] as const),
    ...language.common.map(({ name }) => [name, schemaRef(memberName(name))] as const),
  ];
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    title: text(title),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(properties),
    additionalProperties: true,
  };
}

function memberSchema(
  { type, suggested, meaning, example, required }: Language['common'][number],
  text: Localization['text'],
): JsonObject {
  const typed = suggested === true ? {} : orNull(TYPES[type], required);
  return { ...typed, description: text(meaning), examples: [example] };
}

/** The schema of a member of every kind. */
function memberName(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Member`;
}

/** An optional member that is null counts as absent. */
function orNull(typed: (typeof TYPES)[keyof typeof TYPES], required: boolean): JsonObject {
  return required ? { ...typed } : { ...typed, type: [typed.type, 'null'].flat() };
}

/** For each status, or range of statuses, its codes with what they mean. */
function problemResponses({ language, text }: Localization): [string, JsonObject][] {
  // Of a mirror: HTTP redirects, and the other protocols answer in their own words.
  const codes = CODES.filter((code) => code !== 'misdirected');
  const byStatus = Map.groupBy(codes, (code) => responseKey(statusOf(code)));
  byStatus.set('404', [...(byStatus.get('404') ?? []), 'unknown-room', 'unknown-kind']);
  byStatus.set('416', ['invalid-parameter']);
  return Array.from(byStatus, ([status, ofStatus]) => [
    `Problem${status}`,
    {
      description: ofStatus
        .map((code: Code) => `\`${code}\`: ${text(language.errors[code])}.`)
        .join('\n\n'),
      content: { 'application/problem+json': { schema: schemaRef('Problem') } },
    },
  ]);
}
