/** Parameters of requests, each with an example that works. */
import { type Kind, KINDS } from '@open-presence/protocol';

import type {
  JsonObject,
  Localization,
  ParameterDescription,
} from '../../http/route-description.ts';
import { TEXT } from '../openapi-parts.ts';

/** What a parameter takes, and a value that works. */
interface Values {
  readonly schema: JsonObject;
  readonly example: unknown;
}

const NATURAL = { type: 'integer', minimum: 0 };

function oneOrSeveral(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'array', items: schema }] };
}

function valuesOf({ language }: Localization): Readonly<Record<string, Values>> {
  const slugs = language.rooms.map(({ slug }) => slug);
  const slug = { schema: { type: 'string', enum: slugs }, example: slugs[0] };
  const kind = { type: 'string', enum: [...KINDS] };
  const fields = [...KINDS.flatMap((kind) => language.kinds[kind].fields), ...language.common];
  const members = fields.map(({ name, example }) => {
    return [name, { schema: TEXT, example: [example].flat()[0] }] as const;
  });
  const identity = language.kinds.garden.fields.find(({ name }) => name === 'identity');
  return {
    ...Object.fromEntries(members),
    order: {
      schema: { type: 'string', enum: ['newest', 'oldest'], default: 'newest' },
      example: 'oldest',
    },
    limit: { schema: NATURAL, example: 10 },
    q: { schema: TEXT, example: 'garden' },
    skip: { schema: NATURAL, example: 0 },
    after: { schema: NATURAL, example: 0 },
    before: { schema: NATURAL, example: 1000 },
    since: { schema: TEXT, example: '2026-01-01' },
    until: { schema: TEXT, example: '2126-01-01T00:00:00Z' },
    wait: { schema: { type: 'number', minimum: 0 }, example: 0.5 },
    kind: { schema: oneOrSeveral(kind), example: 'garden' satisfies Kind },
    as: { schema: TEXT, example: identity?.example ?? 'Lumen' },
    room: { ...slug, schema: oneOrSeveral(slug.schema) },
    slug,
  };
}

/** A parameter of the query that the language describes, or another one as it is. */
export function parameterOf(
  localization: Localization,
  parameter: string | ParameterDescription,
): JsonObject {
  const own = typeof parameter === 'string' ? { name: parameter } : parameter;
  if (own.in !== undefined) return { ...own };
  const { language, text } = localization;
  const { name, description: describe, ...members } = own;
  const words = Object.entries(language.parameters).find(([key]) => key === name)?.[1];
  const meaning = words === undefined ? name : text(words);
  const description = typeof describe === 'function' ? describe(localization) : meaning;
  const values = valuesOf(localization)[name] ?? { schema: TEXT, example: 'presence' };
  return { name, in: 'query', description, ...values, ...members };
}

/** The variable parts of a path. An entry's id has no example: it depends on the log. */
export function pathParameters(localization: Localization, path: string): JsonObject[] {
  const values = valuesOf(localization);
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => {
    const { schema, example } = values[name] ?? { schema: TEXT, example: undefined };
    const description = descriptionOf(localization, name);
    const shown = example === undefined ? {} : { example };
    return { name, in: 'path', required: true, description, schema, ...shown };
  });
}

function descriptionOf({ language, text }: Localization, name: string): string {
  const member = language.entry.find(
    (candidate) => candidate.name === (name === 'slug' ? 'room' : name),
  );
  return member === undefined ? name : text(member.meaning);
}
