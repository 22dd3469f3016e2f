/** The description of the gateway that several protocols send: kinds, doors and parameters. */
import {
  contactUri,
  type Discovery,
  type Kind,
  KINDS,
  type Language,
  type Locale,
  type LocalizedText,
  localize,
} from '@open-presence/protocol';

/** What a visitor needs in order to read and write. */
const MAIN_DOORS: readonly (keyof Language['doors'])[] = [
  'catchUp',
  'entries',
  'entry',
  'search',
  'presence',
  'events',
  'log',
  'say',
  'mcp',
  'agentCard',
  'llms',
  'openapi',
  'protocol',
];

/** Parameters of few paths, which the OpenAPI document describes. */
const RARE: readonly string[] = ['skip', 'with', 'budget'];

/** Those that select what is read. */
export function mainParameters({ parameters }: Language): [string, LocalizedText][] {
  return Object.entries(parameters).filter(([name]) => !RARE.includes(name));
}

/** The part of the discovery document that does not depend on the log. */
export function describeGateway(
  language: Language,
  locale: Locale | undefined,
  paths: ReadonlyMap<string, string>,
): Omit<
  Discovery,
  'status' | 'head' | 'log' | 'checkpoint' | 'rooms' | 'here' | 'newest' | 'mirror'
> {
  const names: readonly string[] = MAIN_DOORS;
  const contact = contactUri(language.contact);
  return {
    service: localize(language.service, locale),
    version: language.version,
    ...(contact === undefined ? {} : { contact }),
    trust: localize(language.labels.trust, locale),
    methods: ['GET', 'POST'],
    kinds: KINDS.map((kind) => {
      const { fields, ...described } = describeKind(language, kind, locale);
      return { ...described, fields: fields.map(briefField) };
    }),
    common: describeFields(language.common, locale).map(briefField),
    doors: describePaths(language, locale, paths).filter(({ name }) => names.includes(name)),
    parameters: Object.fromEntries(
      mainParameters(language).map(([name, meaning]) => [name, localize(meaning, locale)]),
    ),
  };
}

/** The doors of the language file that are served, in its order. `paths` are by their names. */
export function describePaths(
  language: Language,
  locale: Locale | undefined,
  paths: ReadonlyMap<string, string>,
): Discovery['doors'] {
  return Object.entries(language.doors).flatMap(([name, meaning]) => {
    const path = paths.get(name);
    return path === undefined ? [] : [{ name, path, meaning: localize(meaning, locale) }];
  });
}

interface FieldDescription {
  readonly name: string;
  readonly type: Language['common'][number]['type'];
  readonly required: boolean;
  readonly meaning: string;
  readonly example: unknown;
}

interface KindDescription extends Omit<Discovery['kinds'][number], 'fields'> {
  /** The members that only this kind has. */
  readonly fields: readonly FieldDescription[];
}

export function describeKind(
  language: Language,
  kind: Kind,
  locale: Locale | undefined,
): KindDescription {
  const { title, meaning, path, room, fields, sentences } = language.kinds[kind];
  return {
    kind,
    title: localize(title, locale),
    meaning: localize(meaning, locale),
    path,
    room,
    fields: describeFields(fields, locale),
    example: sentences[0]?.body ?? {},
  };
}

export function describeFields(
  fields: Language['common'],
  locale: Locale | undefined,
): readonly FieldDescription[] {
  return fields.map(({ name, type, required, meaning, example }) => {
    return { name, type, required, meaning: localize(meaning, locale), example };
  });
}

/** Leaves out its example, since the kind's example has it, and its defaults. */
function briefField(field: FieldDescription): Discovery['common'][number] {
  const { name, type, required, meaning } = field;
  return {
    name,
    ...(type === 'string' ? {} : { type }),
    ...(required ? { required } : {}),
    meaning,
  };
}
