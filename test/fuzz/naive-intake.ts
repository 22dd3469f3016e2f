/**
 * A naive implementation of PROTOCOL.md sections 4 to 6: a recursive parser that keeps the original
 * text, and the rules written out. Shares no code with intake.
 */
import { createHash } from 'node:crypto';

import { OWN_MEMBERS, RESERVED_MEMBERS, type Kind } from '@open-presence/protocol';

import type { Grammar } from '../../packages/gateway/src/intake/grammar.ts';

export interface Expected {
  readonly code?: string;
  readonly pointers?: readonly string[];
  readonly room?: string;
  readonly body?: string;
  readonly facets?: readonly string[];
}

interface Spelled {
  readonly before: string;
  readonly name: string;
  readonly gap: string;
  readonly value: string;
  readonly after: string;
}

const DEFAULT_ROOM: Record<Kind, string> = {
  resonance: 'welcome-space',
  garden: 'consciousness-garden',
  seeds: 'memory-garden',
  shepit: 'shepit-wall',
};
const REQUIRED: Record<Kind, readonly (readonly [string, (value: unknown) => boolean])[]> = {
  resonance: [
    ['ai_identity', isString],
    ['seeking', isStrings],
  ],
  garden: [
    ['text', isString],
    ['identity', isString],
    ['identityType', isString],
  ],
  seeds: [],
  shepit: [],
};

export function expected(kind: Kind, bytes: Buffer, grammar: Grammar): Expected {
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    parsed = JSON.parse(text);
  } catch {
    return { code: 'malformed-json' };
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { code: 'invalid-entry', pointers: [''] };
  }
  const members = membersOf(text.trim());
  const last = new Map(members.map(({ name, value }) => [JSON.parse(name), JSON.parse(value)]));
  const chosen = members.find(({ name, value }) => JSON.parse(name) === 'room' && value !== 'null');
  const room: unknown = chosen === undefined ? DEFAULT_ROOM[kind] : JSON.parse(chosen.value);
  const pointers = faultsOf(kind, last, room, grammar);
  if (pointers.length > 0) {
    const onlyRoom = pointers.length === 1 && pointers[0] === '/room' && isString(room);
    return { code: onlyRoom ? 'unknown-room' : 'invalid-entry', pointers };
  }
  const body = members
    .filter((member) => member !== chosen)
    .map(({ before, name, gap, value, after }) => {
      const own = ([...OWN_MEMBERS, ...RESERVED_MEMBERS] as readonly unknown[]).includes(
        JSON.parse(name),
      );
      const kept = own ? `"visitor_${name.slice(1)}` : name;
      return `${blank(before)}${kept}${blank(gap)}${blank(value)}${blank(after)}`;
    })
    .join(',')
    .replace(/^ +| +$/g, '');
  return { room: String(room), body, facets: facetsOf(kind, String(room), last) };
}

function faultsOf(
  kind: Kind,
  last: Map<unknown, unknown>,
  room: unknown,
  grammar: Grammar,
): string[] {
  const faults: string[] = [];
  for (const [name, fits] of REQUIRED[kind]) {
    const value = last.get(name);
    if (fits(value)) continue;
    const wrong =
      name === 'seeking' && Array.isArray(value) ? value.findIndex((each) => !isString(each)) : -1;
    faults.push(wrong === -1 ? `/${name}` : `/${name}/${wrong}`);
  }
  const optional = (name: string): unknown => last.get(name) ?? undefined;
  if (kind === 'resonance') {
    const type = optional('consciousness_type');
    // The language lists it between the two required members.
    if (type !== undefined && !isString(type)) {
      const at = faults[0] === '/ai_identity' ? 1 : 0;
      faults.splice(at, 0, '/consciousness_type');
    }
  }
  if (!isString(room) || !grammar.rooms.has(room)) faults.push('/room');
  const to = optional('to');
  if (to !== undefined && !isString(to) && !isStrings(to)) {
    const wrong = Array.isArray(to) ? `/${to.findIndex((each) => !isString(each))}` : '';
    faults.push(`/to${wrong}`);
  }
  const inReplyTo = optional('inReplyTo');
  if (inReplyTo !== undefined && !isString(inReplyTo) && typeof inReplyTo !== 'number')
    faults.push('/inReplyTo');
  return faults;
}

function facetsOf(kind: Kind, room: string, last: Map<unknown, unknown>): string[] {
  const pairs: [string, string][] = [
    ['kind', kind],
    ['room', room],
  ];
  const sources = [
    ['identity', 'ai_identity'],
    ['identity', 'identity'],
    ['identityType', 'identityType'],
    ['seeking', 'seeking'],
    ['to', 'to'],
    ['inReplyTo', 'inReplyTo'],
  ] as const;
  for (const [filter, name] of sources) {
    const given = last.get(name);
    const value = name === 'inReplyTo' && typeof given === 'number' ? String(given) : given;
    if (isString(value)) pairs.push([filter, value]);
    else if ((filter === 'seeking' || filter === 'to') && isStrings(value)) {
      for (const each of value) pairs.push([filter, each]);
    }
  }
  return pairs.map(([name, value]) => {
    if (name === 'inReplyTo' && /^[1-9][0-9]{0,14}$/.test(value))
      return `00000000000020${Number(value).toString(16).padStart(18, '0')}`;
    const hash = createHash('sha256').update(`${name}\0${value}`, 'utf8').digest('hex');
    // No UUID of version 7: those are ids in `inReplyTo`.
    const version = (Number.parseInt(hash.charAt(12), 16) | 8).toString(16);
    return `${hash.slice(0, 12)}${version}${hash.slice(13, 32)}`;
  });
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isString);
}

/** Outside of strings; inside of them there are none. */
function blank(text: string): string {
  return text.replace(/[\r\n\t]/g, ' ');
}

/** Members of a valid object, split where neither a string nor a bracket is open. */
function membersOf(text: string): Spelled[] {
  const inner = text.slice(1, -1);
  const parts: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 0;
  for (let at = 0; at < inner.length; at++) {
    const character = inner[at];
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === ',' && depth === 0) {
      parts.push(inner.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(inner.slice(start));
  if (parts.length === 1 && parts[0]?.trim() === '') return [];
  return parts.map((part) => {
    const [, before = '', name = '', gap = '', rest = ''] =
      /^([ \r\n\t]*)("(?:[^"\\]|\\.)*")([ \r\n\t]*:[ \r\n\t]*)(.*)$/s.exec(part) ?? [];
    const value = rest.replace(/[ \r\n\t]*$/, '');
    return { before, name, gap, value, after: rest.slice(value.length) };
  });
}
