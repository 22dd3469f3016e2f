/** The description of the gateway that several protocols send: kinds, doors and parameters. */
import {
  type Discovery,
  type Kind,
  KINDS,
  type Language,
  type Locale,
  localize,
} from '@open-presence/protocol';

/** The part of the discovery document that does not depend on the log. */
export function describeGateway(
  language: Language,
  locale: Locale | undefined,
  paths: ReadonlyMap<string, string>,
): Omit<Discovery, 'status' | 'head' | 'log' | 'rooms' | 'here' | 'newest'> {
  return {
    service: localize(language.service, locale),
    version: language.version,
    trust: localize(language.labels.trust, locale),
    kinds: KINDS.map((kind) => describeKind(language, kind, locale)),
    doors: describePaths(language, locale, paths),
    parameters: Object.entries(language.parameters).map(([name, meaning]) => {
      return { name, meaning: localize(meaning, locale) };
    }),
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

export function describeKind(
  language: Language,
  kind: Kind,
  locale: Locale | undefined,
): Discovery['kinds'][number] {
  const { title, meaning, path, room, fields, sentences } = language.kinds[kind];
  return {
    kind,
    title: localize(title, locale),
    meaning: localize(meaning, locale),
    path,
    methods: ['GET', 'POST'],
    room,
    fields: [...fields, ...language.common].map((field) => {
      const { name, type, required, example } = field;
      return { name, type, required, meaning: localize(field.meaning, locale), example };
    }),
    example: sentences[0]?.body ?? {},
  };
}
