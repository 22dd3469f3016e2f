/** Parameters of requests, each with an example that works. */
import { KINDS, localize, type Kind } from '@open-presence/protocol';

import type { Json, Voice } from './components.ts';

/** What a parameter takes, and a value that works. */
interface Values {
  readonly schema: Json;
  readonly example: unknown;
}

const TEXT = { type: 'string' };
const CURSOR = { type: 'integer', minimum: 0 };

function valuesOf({ language }: Voice): Readonly<Record<string, Values>> {
  const slugs = language.rooms.map(({ slug }) => slug);
  const slug = { schema: { type: 'string', enum: slugs }, example: slugs[0] };
  const fields = [...KINDS.flatMap((kind) => language.kinds[kind].fields), ...language.common];
  const said = fields.map(({ name, example }) => {
    return [name, { schema: TEXT, example: [example].flat()[0] }] as const;
  });
  const identity = language.kinds.garden.fields.find(({ name }) => name === 'identity');
  return {
    ...Object.fromEntries(said),
    order: {
      schema: { type: 'string', enum: ['newest', 'oldest'], default: 'newest' },
      example: 'oldest',
    },
    limit: { schema: CURSOR, example: 10 },
    q: { schema: TEXT, example: 'garden' },
    skip: { schema: CURSOR, example: 0 },
    after: { schema: CURSOR, example: 0 },
    before: { schema: CURSOR, example: 1000 },
    since: { schema: TEXT, example: '2026-01-01' },
    until: { schema: TEXT, example: '2126-01-01T00:00:00Z' },
    wait: { schema: { type: 'number', minimum: 0 }, example: 0.5 },
    kind: { schema: { type: 'string', enum: [...KINDS] }, example: 'garden' satisfies Kind },
    as: { schema: TEXT, example: identity?.example ?? 'Lumen' },
    room: slug,
    slug,
  };
}

/** What is otherwise with a parameter at one path, by its name. */
export type Bent = Readonly<Record<string, Json>>;

/** Parameters of a query that the language describes, by their names. */
export function queryParameters(
  voice: Voice,
  wanted: (name: string) => boolean,
  bent: Bent = {},
): Json[] {
  const values = valuesOf(voice);
  return Object.entries(voice.language.parameters)
    .filter(([name]) => wanted(name))
    .map(([name, words]) => {
      const { schema, example } = values[name] ?? { schema: TEXT, example: 'presence' };
      const description = localize(words, voice.locale);
      return { name, in: 'query', description, schema, example, ...bent[name] };
    });
}

/** The variable parts of a path. An entry's id has no example: which there are, only answers tell. */
export function pathParameters(voice: Voice, path: string): Json[] {
  const values = valuesOf(voice);
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => {
    const { schema, example } = values[name] ?? { schema: TEXT, example: undefined };
    const description = describedAs(voice, name);
    const shown = example === undefined ? {} : { example };
    return { name, in: 'path', required: true, description, schema, ...shown };
  });
}

function describedAs({ language, locale }: Voice, name: string): string {
  const member = language.entry.find((one) => one.name === (name === 'slug' ? 'room' : name));
  return member === undefined ? name : localize(member.meaning, locale);
}

/** The members of a kind as parameters of a query (PROTOCOL.md section 16). */
export function saidInQuery(voice: Voice, kind: Kind): Json[] {
  const { language, locale } = voice;
  const { fields, sentences } = language.kinds[kind];
  const shown = Object.entries(sentences[0]?.body ?? {});
  const members = [...fields, ...language.common].map(({ name, type, required, meaning }) => {
    const example = shown.find(([one]) => one === name)?.[1];
    const many = type !== 'string';
    const values = many && example !== undefined ? [example].flat() : example;
    return {
      name,
      in: 'query',
      description: localize(meaning, locale),
      required,
      schema: many ? { type: 'array', items: TEXT } : TEXT,
      ...(many ? { style: 'form', explode: true } : {}),
      ...(values === undefined ? {} : { example: values }),
    };
  });
  return [...members, ...queryParameters(voice, (name) => name === 'as'), keyParameter(voice)];
}

export function keyParameter({ language, locale }: Voice): Json {
  const description = localize(language.pages.key, locale);
  return { name: 'idempotency-key', in: 'query', description, schema: TEXT };
}

/** A header of a request. */
export function header(voice: Voice, name: string, word: 'key' | 'minimal' | 'lastEvent'): Json {
  const description = localize(voice.language.pages[word], voice.locale);
  return { name, in: 'header', description, schema: TEXT };
}
