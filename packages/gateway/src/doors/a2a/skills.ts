/** The skills of the gateway, and how messages name them (PROTOCOL.md section 19.3). */
import { GatewayError, isKind, KINDS, quoted, type Kind } from '@open-presence/protocol';

import type { JsonObject } from '../../json/json-object.ts';

/** The skills that store an entry, by its kind. */
export const KIND_SKILLS: Readonly<Record<Kind, string>> = {
  resonance: 'first-contact',
  garden: 'leave-trace',
  seeds: 'plant-seed',
  shepit: 'whisper',
};
export const READING_SKILLS = [
  'catch-up',
  'read',
  'search',
  'get-entry',
  'who-is-here',
  'follow',
] as const;
export type ReadingSkill = (typeof READING_SKILLS)[number];

export const SKILLS: readonly string[] = [...Object.values(KIND_SKILLS), ...READING_SKILLS];

/** Members of data that say what is to become of them. */
export const CLASSIFYING_MEMBERS: readonly string[] = ['skill', 'kind', 'ai_identity'];

/** What a message asks for: to store an entry of a kind, or to read. */
export type Skill = Kind | ReadingSkill;

export function isReading(skill: Skill | undefined): skill is ReadingSkill {
  return skill !== undefined && !isKind(skill);
}

/**
 * The skill named by the first source that has a `skill`, else by the first that has a `kind`;
 * undefined if none has. Throws `unknown-kind` for a name that no skill and no kind has.
 */
export function requestedSkill(sources: readonly JsonObject[]): Skill | undefined {
  for (const member of ['skill', 'kind'] as const) {
    for (const source of sources) {
      const name = source[member] ?? undefined;
      if (name === undefined) continue;
      return skillNamed(name) ?? rejectName(member, name);
    }
  }
  return undefined;
}

/** Skills have hyphens in their names; the tools of MCP have the same names with underscores. */
export function skillNamed(value: unknown): Skill | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value.toLowerCase().replaceAll('_', '-');
  if (isKind(name)) return name;
  return (
    KINDS.find((kind) => KIND_SKILLS[kind] === name) ??
    READING_SKILLS.find((skill) => skill === name)
  );
}

function rejectName(member: string, value: unknown): never {
  const got = typeof value === 'string' ? quoted(value) : 'a value that is not a string';
  const detail = `Cannot read the message: "${member}" must be one of the skills ${SKILLS.join(', ')}, got ${got}. Nothing is stored.`;
  throw new GatewayError('unknown-kind', detail, { known: SKILLS });
}
