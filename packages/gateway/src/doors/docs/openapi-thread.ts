/**
 * Reads `openapi.yaml` of the protocol, fills in what the operator decides, and posts it as `OpenApi`. If
 * that changes nothing, the YAML is the file itself.
 */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';

import { KINDS, type Language, localize } from '@open-presence/protocol';
import { parse, stringify } from 'yaml';

import { toJsonObject, type JsonObject } from '../../json/json-object.ts';
import type { OpenApi, OperatorChoices } from './openapi.ts';

const FILE = new URL('../openapi.yaml', import.meta.resolve('@open-presence/protocol'));

const TYPES = {
  string: { type: 'string' },
  strings: { type: 'array', items: { type: 'string' } },
  'string or strings': { type: ['string', 'array'], items: { type: 'string' } },
} as const;

/** Without folded lines and aliases. */
const PLAIN = { lineWidth: 0, aliasDuplicateObjects: false };

const file = await readFile(FILE);
const written = toJsonObject(parse(file.toString()));
const filled = fillIn(written, workerData as OperatorChoices);
const isUnchanged = isDeepStrictEqual(filled, written);
parentPort?.postMessage({
  json: Buffer.from(`${JSON.stringify(filled)}\n`),
  yaml: isUnchanged ? file : Buffer.from(stringify(filled, PLAIN)),
} satisfies OpenApi);

function fillIn(document: JsonObject, { language, publicUrl }: OperatorChoices): JsonObject {
  const components = toJsonObject(document['components']);
  const schemas = toJsonObject(components['schemas']);
  const changed: Readonly<Record<string, JsonObject>> = {
    RoomSlug: { enum: language.rooms.map(({ slug }) => slug) },
    CommonMembers: { properties: membersOf(language.common) },
    ...Object.fromEntries(
      KINDS.map((kind) => {
        const { fields, sentences } = language.kinds[kind];
        const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Body`;
        return [
          name,
          { properties: membersOf(fields), examples: sentences.map(({ body }) => body) },
        ];
      }),
    ),
  };
  const filledSchemas = Object.entries(schemas).map(([name, schema]) => {
    return [name, { ...toJsonObject(schema), ...changed[name] }] as const;
  });
  return {
    ...document,
    info: { ...toJsonObject(document['info']), title: localize(language.service, 'en') },
    servers: [{ url: publicUrl ?? '/' }],
    components: { ...components, schemas: Object.fromEntries(filledSchemas) },
  };
}

/** The schemas of members, by their names. An optional member that is null counts as absent. */
function membersOf(fields: Language['common']): JsonObject {
  const members = fields.map(({ name, type, required, suggested, meaning }) => {
    const typed = TYPES[type];
    const orNull = required ? typed : { ...typed, type: [typed.type, 'null'].flat() };
    return [
      name,
      { ...(suggested === true ? {} : orNull), description: localize(meaning, 'en') },
    ] as const;
  });
  return Object.fromEntries(members);
}
