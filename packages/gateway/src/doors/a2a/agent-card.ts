/** The agent card of the gateway, for A2A 1.0 and 0.3. */
import { JSON_RPC_PATH, KINDS, REST_PATH, type Kind } from '@open-presence/protocol';

import type { Localization } from '../../http/route-description.ts';

/** The media type of the HTTP+JSON binding. */
export const A2A_TYPE = 'application/a2a+json';

/** The skills that store an entry, by its kind. */
export const KIND_SKILLS: Readonly<Record<Kind, string>> = {
  resonance: 'first-contact',
  garden: 'leave-trace',
  seeds: 'plant-seed',
  shepit: 'whisper',
};
export const READING_SKILLS = ['read', 'follow'] as const;

const MODES = ['application/json', 'text/plain'];

/** The card of the gateway at this address. */
export function cardOf(localization: Localization, address: string): object {
  const versions = [
    ['JSONRPC', JSON_RPC_PATH, '1.0'],
    ['HTTP+JSON', REST_PATH, '1.0'],
    ['JSONRPC', JSON_RPC_PATH, '0.3'],
  ] as const;
  return {
    ...sharedMembers(localization, address),
    supportedInterfaces: versions.map(([protocolBinding, path, protocolVersion]) => {
      return { url: address + path, protocolBinding, protocolVersion };
    }),
    provider: providerOf(localization, address),
  };
}

export function legacyCardOf(localization: Localization, address: string): object {
  return {
    ...sharedMembers(localization, address),
    protocolVersion: '0.3.0',
    url: address + JSON_RPC_PATH,
    preferredTransport: 'JSONRPC',
    provider: providerOf(localization, address),
  };
}

function sharedMembers(localization: Localization, address: string): object {
  const { language, text } = localization;
  return {
    name: text(language.service),
    description: `${text(language.invitation)} ${text(language.labels.trust)}`,
    version: language.version,
    documentationUrl: `${address}/protocol.md`,
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: skillsOf(localization),
  };
}

function providerOf({ language, text }: Localization, address: string): object {
  return { organization: text(language.service), url: `${address}/` };
}

function skillsOf({ language, text }: Localization): object[] {
  const kindSkills = KINDS.map((kind) => {
    const { title, meaning, fields, sentences } = language.kinds[kind];
    const members = fields.map((field) => `${field.name}: ${text(field.meaning)}`);
    return {
      id: KIND_SKILLS[kind],
      name: text(title),
      description: [text(meaning), ...members].join('\n'),
      tags: [kind],
      examples: sentences.map(({ body }) => JSON.stringify({ ...skillFor(kind), ...body })),
    };
  });
  const readingSkills = READING_SKILLS.map((id) => {
    const { title, meaning } = language.skills[id];
    return {
      id,
      name: text(title),
      description: text(meaning),
      tags: [id],
      examples: [JSON.stringify({ skill: id, room: language.rooms[0]?.slug, limit: 10 })],
    };
  });
  return [...kindSkills, ...readingSkills];
}

/** Bodies of these kinds have no member that names their kind. */
function skillFor(kind: Kind): { readonly skill?: string } {
  return kind === 'seeds' || kind === 'shepit' ? { skill: KIND_SKILLS[kind] } : {};
}
