/** Reads `openapi.yaml` of the protocol, fills in what the language file and the operator say, and posts it as `OpenApi`. */
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { KINDS, type Language, localize } from '@open-presence/protocol';
import { parseDocument } from 'yaml';

import type { OpenApi, OperatorChoices } from './files.ts';

const FILE = new URL('../openapi.yaml', import.meta.resolve('@open-presence/protocol'));

const TYPES = {
  string: { type: 'string' },
  strings: { type: 'array', items: { type: 'string' } },
  'string or strings': { type: ['string', 'array'], items: { type: 'string' } },
} as const;

const document = parseDocument(await readFile(FILE, 'utf8'));
const choices = workerData as OperatorChoices;
for (const [path, value] of valuesOf(choices)) document.setIn(path, value);
for (const parameter of parametersOf(choices.language))
  document.addIn(['paths', '/api/say/{kind}', 'get', 'parameters'], parameter);
parentPort?.postMessage({
  json: Buffer.from(`${JSON.stringify(document)}\n`),
  yaml: Buffer.from(document.toString({ lineWidth: 108, flowCollectionPadding: false })),
} satisfies OpenApi);

/** What is filled in, each with its path in the document. */
function valuesOf({ language, publicUrl }: OperatorChoices): [string[], unknown][] {
  const schemas = ['components', 'schemas'];
  return [
    [['info', 'title'], localize(language.service, 'en')],
    [['servers'], [{ url: publicUrl ?? '/' }]],
    [[...schemas, 'RoomSlug', 'enum'], language.rooms.map(({ slug }) => slug)],
    [[...schemas, 'CommonMembers', 'properties'], membersOf(language.common)],
    ...KINDS.flatMap((kind): [string[], unknown][] => {
      const { fields, sentences } = language.kinds[kind];
      const body = [...schemas, `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Body`];
      return [
        [[...body, 'properties'], membersOf(fields)],
        [[...body, 'examples'], sentences.map((sentence) => sentence.body)],
      ];
    }),
  ];
}

/** The schemas of members, by their names. An optional member that is null counts as absent. */
function membersOf(fields: Language['common']): Record<string, object> {
  const members = fields.map(({ name, type, required, suggested, meaning }) => {
    // A seq may come as a number.
    const typed = name === 'inReplyTo' ? { type: ['string', 'integer'] } : TYPES[type];
    const orNull = required ? typed : { ...typed, type: [typed.type, 'null'].flat() };
    const any = suggested === true ? {} : orNull;
    return [name, { ...any, description: localize(meaning, 'en') }] as const;
  });
  return Object.fromEntries(members);
}

/** Members as parameters of a query, each once. */
function parametersOf({ kinds, common }: Language): readonly object[] {
  const fields = [...KINDS.flatMap((kind) => kinds[kind].fields), ...common];
  const byName = new Map(fields.toReversed().map((field) => [field.name, field]));
  return [...byName.values()].toReversed().map(({ name, type, meaning, example }) => ({
    name,
    in: 'query',
    description: localize(meaning, 'en'),
    ...(type === 'string'
      ? { schema: TYPES.string, example }
      : { schema: TYPES.strings, example: [example].flat() }),
  }));
}
