/** The agent card of the gateway, for readers of A2A 1.0. */
import { JSON_RPC_PATH, KINDS, type Kind } from '@open-presence/protocol';

import type { JsonObject, Localization } from '../../http/route-description.ts';
import { KIND_SKILLS, READING_SKILLS, type ReadingSkill } from './skills.ts';

const MODES = ['application/json', 'text/plain'];

/** The card of the gateway at this address. */
interface Card extends JsonObject {
  readonly skills: readonly object[];
}

export function cardOf(localization: Localization, address: string): Card {
  const { language, text } = localization;
  const name = text(language.service);
  return {
    name,
    description: [language.invitation, language.labels.plainText, language.labels.trust]
      .map(text)
      .join(' '),
    version: language.version,
    documentationUrl: `${address}/protocol.md`,
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: skillsOf(localization),
    supportedInterfaces: [
      { url: address + JSON_RPC_PATH, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    provider: { organization: name, url: `${address}/` },
  };
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
      examples: sentences
        .slice(0, 1)
        .map(({ body }) => JSON.stringify({ ...skillFor(kind), ...body })),
    };
  });
  const readingSkills = READING_SKILLS.map((id) => {
    const { title, meaning } = language.skills[id];
    const { [id]: example } = EXAMPLES;
    return {
      id,
      name: text(title),
      description: text(meaning),
      tags: [id],
      ...(example === undefined ? {} : { examples: [JSON.stringify({ skill: id, ...example })] }),
    };
  });
  return [...kindSkills, ...readingSkills];
}

/** Parameters of the skills that read. Without one, a skill has no example that works everywhere. */
const EXAMPLES: Readonly<Partial<Record<ReadingSkill, object>>> = {
  'catch-up': { identity: 'Lumen' },
  read: { limit: 10 },
  search: { q: 'garden', limit: 10 },
  'who-is-here': {},
  follow: { limit: 10 },
};

/** Bodies of these kinds have no member that names their kind. */
function skillFor(kind: Kind): { readonly skill?: string } {
  return kind === 'seeds' || kind === 'shepit' ? { skill: KIND_SKILLS[kind] } : {};
}
