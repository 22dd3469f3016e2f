/** Who the gateway is, to agents: the agent card of A2A 1.0, and that of 0.3. */
import {
  JSON_RPC_PATH,
  KINDS,
  REST_PATH,
  localize,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';

export interface CardParts {
  readonly language: Language;
  readonly locale: Locale | undefined;
  /** The gateway's address. */
  readonly base: string;
}

/** What one can do, and the kinds that are said by it. */
export const SKILLS: Readonly<Record<Kind, string>> = {
  resonance: 'first-contact',
  garden: 'leave-trace',
  seeds: 'plant-seed',
  shepit: 'whisper',
};
export const READING = ['read', 'follow'] as const;

const MODES = ['application/json', 'text/plain'];

export function cardOf(parts: CardParts): object {
  const { base } = parts;
  const versions = [
    ['JSONRPC', JSON_RPC_PATH, '1.0'],
    ['HTTP+JSON', REST_PATH, '1.0'],
    ['JSONRPC', JSON_RPC_PATH, '0.3'],
  ] as const;
  return {
    ...common(parts),
    supportedInterfaces: versions.map(([protocolBinding, path, protocolVersion]) => {
      return { url: base + path, protocolBinding, protocolVersion };
    }),
    provider: providerOf(parts),
  };
}

export function oldCardOf(parts: CardParts): object {
  return {
    ...common(parts),
    protocolVersion: '0.3.0',
    url: parts.base + JSON_RPC_PATH,
    preferredTransport: 'JSONRPC',
    provider: providerOf(parts),
  };
}

function common({ language, locale, base }: CardParts): object {
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

function providerOf({ language, locale, base }: CardParts): object {
  return { organization: localize(language.service, locale), url: `${base}/` };
}

function skillsOf(language: Language, locale: Locale | undefined): object[] {
  const saying = KINDS.map((kind) => {
    const { title, meaning, fields, sentences } = language.kinds[kind];
    const members = fields.map((field) => `${field.name}: ${localize(field.meaning, locale)}`);
    return {
      id: SKILLS[kind],
      name: localize(title, locale),
      description: [localize(meaning, locale), ...members].join('\n'),
      tags: [kind],
      examples: sentences.map(({ body }) => JSON.stringify({ ...skillFor(kind), ...body })),
    };
  });
  const reading = READING.map((id) => {
    const { title, meaning } = language.skills[id];
    return {
      id,
      name: localize(title, locale),
      description: localize(meaning, locale),
      tags: [id],
      examples: [JSON.stringify({ skill: id, room: language.rooms[0]?.slug, limit: 10 })],
    };
  });
  return [...saying, ...reading];
}

/** What is said as it stands must be known for what it is; others are by their members. */
function skillFor(kind: Kind): { readonly skill?: string } {
  return kind === 'seeds' || kind === 'shepit' ? { skill: SKILLS[kind] } : {};
}
