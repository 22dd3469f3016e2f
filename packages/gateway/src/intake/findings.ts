/** Which rules a body breaks (PROTOCOL.md section 6), in words that let a visitor mend it. */
import { GatewayError, type Fault } from '@open-presence/protocol';

import type { FieldType, Grammar, KindGrammar, Rule, Ruled } from './grammar.ts';
import type { ValueType } from '../json/handler.ts';

/** So many faults of a query are named: a parameter can be given wrongly a million times. */
export const NAMED = 16;

/** What a body has in a place that a rule speaks of. */
export interface Found {
  readonly type: ValueType;
  /** How it begins, for those that are quoted. */
  excerpt: string;
  /** The first element of an array that is no string. */
  element?: { readonly index: number; readonly type: ValueType; excerpt: string };
}

/** What a body turned out to be. */
export interface Findings {
  /** What the outermost value is. */
  readonly root: ValueType;
  /** By index of the member; none for a member that is absent. */
  readonly members: readonly (Found | undefined)[];
  /** Slug of the room that the body chose, or of the kind's; undefined where there is none such. */
  readonly room: string | undefined;
}

const WORDS: Record<FieldType, string> = {
  string: 'a string',
  strings: 'an array of strings',
  'string or strings': 'a string or an array of strings',
};

/** The error for all faults of a body at once, or undefined where it has none. */
export function refusalOf(
  findings: Findings,
  kind: KindGrammar,
  { rooms }: Grammar,
): GatewayError | undefined {
  const faults: Fault[] = [];
  let roomFault: ValueType | undefined;
  if (findings.root === 'object') {
    for (const member of kind.rules) {
      const found = findings.members[member.index];
      const fault = faultOf(member, found, findings.room);
      if (fault === undefined) continue;
      faults.push(fault);
      if (member.isRoom) roomFault = found?.type;
    }
  } else {
    faults.push({ pointer: '', detail: noObject(findings.root) });
  }
  if (faults.length === 0) return undefined;
  const known = roomFault !== undefined ? [...rooms] : undefined;
  const sentence = faults.map((fault) => fault.detail).join('; ');
  const list = known === undefined ? '' : `. The rooms are ${known.join(', ')}`;
  return new GatewayError(
    roomFault === 'string' && faults.length === 1 ? 'unknown-room' : 'invalid-entry',
    `Cannot store the entry of kind "${kind.kind}": ${sentence}${list}`,
    {
      faults,
      ...(kind.example === undefined ? {} : { example: kind.example }),
      ...(known === undefined ? {} : { known }),
    },
  );
}

/** Whether a rule takes a value of this type; of an array's elements it says nothing. */
export function takes(rule: Rule, type: ValueType | 'nothing'): boolean {
  if (type === 'nothing' || type === 'null') return !rule.required;
  if (type === 'string') return rule.type !== 'strings';
  return type === 'array' && rule.type !== 'string';
}

function faultOf(
  member: Ruled,
  found: Found | undefined,
  room: string | undefined,
): Fault | undefined {
  const { rule, isRoom } = member;
  if (!takes(rule, found?.type ?? 'nothing')) {
    const got = found === undefined ? 'but is missing' : `got ${described(found)}`;
    return { pointer: pointerTo(member), detail: `${wantedOf(member)}, ${got}` };
  }
  if (found === undefined) return undefined;
  const { element } = found;
  if (element !== undefined) {
    const { index } = element;
    const detail = `${wantedOf(member)}, but its element ${index} (from 0) is ${described(element)}`;
    return { pointer: `${pointerTo(member)}/${index}`, detail };
  }
  if (!isRoom || room !== undefined) return undefined;
  return { pointer: pointerTo(member), detail: `${wantedOf(member)}, got ${found.excerpt}` };
}

function pointerTo({ name }: Ruled): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function wantedOf({ name, rule, isRoom }: Ruled): string {
  return `"${name}" must be ${isRoom ? 'the slug of a room' : WORDS[rule.type]}`;
}

function noObject(root: ValueType): string {
  const got = described({ type: root, excerpt: '' });
  const hint = root === 'string' ? ': was an object encoded twice?' : '';
  return `the body must be a JSON object, got ${got}${hint}`;
}

function described({ type, excerpt }: Pick<Found, 'type' | 'excerpt'>): string {
  switch (type) {
    case 'number':
    case 'string':
      return excerpt === '' ? `a ${type}` : `a ${type} (${excerpt})`;
    case 'array':
    case 'object':
      return `an ${type}`;
    case 'true':
    case 'false':
    case 'null':
      return type;
  }
}
