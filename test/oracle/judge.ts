/** What PROTOCOL.md sections 4 and 6 make of a body, naively: by `JSON.parse` and cutting text. */
import type { Kind } from '../../conformance/entry.ts';
import { members, type Member } from '../../conformance/spelling.ts';
import { parseJson } from '../../conformance/value.ts';

export const ROOMS: readonly string[] = [
  'first-breath',
  'welcome-space',
  'consciousness-garden',
  'shepit-wall',
  'memory-garden',
  'resonance-hall',
];

const USUAL: Readonly<Record<Kind, string>> = {
  resonance: 'welcome-space',
  garden: 'consciousness-garden',
  seeds: 'memory-garden',
  shepit: 'shepit-wall',
};

const OWN = ['id', 'seq', 'kind', 'room', 'timestamp'].concat(
  'withheld unreadable omitted notes root replies repeated'.split(' '),
);

/** `number`: or a string. */
type Type = 'string' | 'strings' | 'either' | 'number';
const REQUIRED: Readonly<Record<Kind, Readonly<Record<string, Type>>>> = {
  resonance: { ai_identity: 'string', seeking: 'strings' },
  garden: { text: 'string', identity: 'string', identityType: 'string' },
  seeds: {},
  shepit: {},
};
const OPTIONAL: Readonly<Record<string, Type>> = { to: 'either', inReplyTo: 'number' };

export type Verdict =
  | { readonly outcome: 'kept'; readonly room: string; readonly body: string }
  | { readonly outcome: 'refused'; readonly code: string; readonly pointers: readonly string[] };

export function judge(kind: Kind, bytes: Uint8Array): Verdict {
  let json: string;
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value = parseJson(json);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { outcome: 'refused', code: 'invalid-entry', pointers: [''] };
    }
  } catch {
    return { outcome: 'refused', code: 'malformed-json', pointers: [] };
  }
  const all = members(json);
  const chosen = all.find(({ name, value }) => name === 'room' && value !== 'null');
  const room = chosen === undefined ? USUAL[kind] : parseJson(chosen.value);
  const pointers = faults(kind, all);
  const known = typeof room === 'string' && ROOMS.includes(room);
  if (!known && pointers.length === 0 && typeof room === 'string') {
    return { outcome: 'refused', code: 'unknown-room', pointers: ['/room'] };
  }
  if (!known) pointers.push('/room');
  if (pointers.length > 0 || !known) {
    return { outcome: 'refused', code: 'invalid-entry', pointers: pointers.toSorted() };
  }
  const body = all.filter((member) => member !== chosen).map(kept);
  return { outcome: 'kept', room, body: body.join(',') };
}

function kept({ name, spelled, value }: Member): string {
  const itsName = OWN.includes(name) ? `"visitor_${spelled.slice(1)}` : spelled;
  return `${itsName}:${value.replaceAll(/[\r\n\t]/g, ' ')}`;
}

function faults(kind: Kind, all: readonly Member[]): string[] {
  const found: string[] = [];
  const rules = [
    ...Object.entries(REQUIRED[kind]).map((rule) => [...rule, true] as const),
    ...Object.entries(OPTIONAL).map((rule) => [...rule, false] as const),
    ...(kind === 'resonance' ? [['consciousness_type', 'string', false] as const] : []),
  ];
  for (const [name, type, required] of rules) {
    const last = all.findLast((member) => member.name === name);
    const value = last === undefined ? null : parseJson(last.value);
    if (value === null) {
      if (required) found.push(`/${name}`);
    } else if (Array.isArray(value) && type !== 'string' && type !== 'number') {
      const wrong = value.findIndex((element) => typeof element !== 'string');
      if (wrong >= 0) found.push(`/${name}/${wrong}`);
    } else if (type === 'number' && typeof value === 'number') continue;
    else if (typeof value !== 'string' || type === 'strings') found.push(`/${name}`);
  }
  return found;
}
