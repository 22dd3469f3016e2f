/** The agent card of the gateway, for A2A 1.0 and 0.3. */
import {
  JSON_RPC_PATH,
  KINDS,
  REST_PATH,
  localize,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';

/** The media type of the HTTP+JSON binding. */
export const A2A_TYPE = 'application/a2a+json';

export interface CardInput {
  readonly language: Language;
  readonly locale: Locale | undefined;
  /** The gateway's address. */
  readonly base: string;
}

/** The skills that store an entry, by its kind. */
export const KIND_SKILLS: Readonly<Record<Kind, string>> = {
  resonance: 'first-contact',
  garden: 'leave-trace',
  seeds: 'plant-seed',
  shepit: 'whisper',
};
export const READING_SKILLS = ['read', 'follow'] as const;

const MODES = ['application/json', 'text/plain'];

export function cardOf(input: CardInput): object {
  const { base } = input;
  const versions = [
    ['JSONRPC', JSON_RPC_PATH, '1.0'],
    ['HTTP+JSON', REST_PATH, '1.0'],
    ['JSONRPC', JSON_RPC_PATH, '0.3'],
  ] as const;
  return {
    ...common(input),
    supportedInterfaces: versions.map(([protocolBinding, path, protocolVersion]) => {
      return { url: base + path, protocolBinding, protocolVersion };
    }),
    provider: providerOf(input),
  };
}

export function legacyCardOf(input: CardInput): object {
  return {
    ...common(input),
    protocolVersion: '0.3.0',
    url: input.base + JSON_RPC_PATH,
    preferredTransport: 'JSONRPC',
    provider: providerOf(input),
  };
}

function common({ language, locale, base }: CardInput): object {
  const trust = localize(language.labels.trust, locale);
  return {
    name: localize(language.service, locale),
    description: `${localize(language.invitation, locale)} ${trust}`,
    version: language.version,
    documentationUrl: `${base}/protocol.md`,
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: skillsOf(language, locale),
  };
}

function providerOf({ language, locale, base }: CardInput): object {
  return { organization: localize(language.service, locale), url: `${base}/` };
}

function skillsOf(language: Language, locale: Locale | undefined): object[] {
  const kindSkills = KINDS.map((kind) => {
    const { title, meaning, fields, sentences } = language.kinds[kind];
    const members = fields.map((field) => `${field.name}: ${localize(field.meaning, locale)}`);
    return {
      id: KIND_SKILLS[kind],
      name: localize(title, locale),
      description: [localize(meaning, locale), ...members].join('\n'),
      tags: [kind],
      examples: sentences.map(({ body }) => JSON.stringify({ ...skillFor(kind), ...body })),
    };
  });
  const readingSkills = READING_SKILLS.map((id) => {
    const { title, meaning } = language.skills[id];
    return {
      id,
      name: localize(title, locale),
      description: localize(meaning, locale),
      tags: [id],
      examples: [JSON.stringify({ skill: id, room: language.rooms[0]?.slug, limit: 10 })],
    };
  });
  return [...kindSkills, ...readingSkills];
}

/** Bodies of these kinds have no member that tells their kind. */
function skillFor(kind: Kind): { readonly skill?: string } {
  return kind === 'seeds' || kind === 'shepit' ? { skill: KIND_SKILLS[kind] } : {};
}
