/** Who the gateway is, to agents: the agent card of A2A 1.0, and that of 0.3. */
import { KINDS, say, type Kind, type Language, type Tongue } from '@open-presence/protocol';

export interface CardParts {
  readonly language: Language;
  readonly tongue: Tongue | undefined;
  /** The gateway's address. */
  readonly base: string;
}

export const JSON_RPC_PATH = '/a2a';
export const REST_PATH = '/a2a/v1';

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

function common({ language, tongue, base }: CardParts): object {
  const trust = say(language.labels.trust, tongue);
  return {
    name: say(language.service, tongue),
    description: `${say(language.invitation, tongue)} ${trust}`,
    version: language.version,
    documentationUrl: `${base}/protocol.md`,
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: skillsOf(language, tongue),
  };
}

function providerOf({ language, tongue, base }: CardParts): object {
  return { organization: say(language.service, tongue), url: `${base}/` };
}

function skillsOf(language: Language, tongue: Tongue | undefined): object[] {
  const saying = KINDS.map((kind) => {
    const { title, meaning, fields, sentences } = language.kinds[kind];
    const members = fields.map((field) => `${field.name}: ${say(field.meaning, tongue)}`);
    return {
      id: SKILLS[kind],
      name: say(title, tongue),
      description: [say(meaning, tongue), ...members].join('\n'),
      tags: [kind],
      examples: sentences.map(({ body }) => JSON.stringify({ ...skillFor(kind), ...body })),
    };
  });
  const reading = READING.map((id) => {
    const { title, meaning } = language.skills[id];
    return {
      id,
      name: say(title, tongue),
      description: say(meaning, tongue),
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
