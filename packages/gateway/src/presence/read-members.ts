import { FILTER_MEMBERS, visitorName } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry } from '../log/log.ts';

/** Longer entries are not read for their authors. */
export const MAX_ENTRY_SIZE: number = 64 * 1024;

const decoder = new TextDecoder();

/** Empty if the entry is too long. */
export async function readMembers(entry: Entry): Promise<Record<string, unknown>> {
  if (entry.size > MAX_ENTRY_SIZE) return {};
  // A spooled entry has no `text`, even if it is short.
  const bytes =
    entry.text ??
    Buffer.concat(await Array.fromAsync(entry.chunks(), (chunk) => Buffer.from(chunk)));
  const value: unknown = JSON.parse(decoder.decode(bytes));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Whom the entry is found by, each once. */
export function identitiesOf(members: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = FILTER_MEMBERS.identity.map((name) => visitorName(members[name]));
  return new Set(names.filter((name) => name !== undefined));
}

/** Short, whatever the length of the name. */
export function keyOf(identity: string): string {
  return Buffer.from(facet('identity', identity)).toString('latin1');
}
