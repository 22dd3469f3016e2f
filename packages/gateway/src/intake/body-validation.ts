/** The rules for members (PROTOCOL.md section 6), and the error that names all faults of a body. */
import { GatewayError, type Fault } from '@open-presence/protocol';

import type { ValueType } from '../json/handler.ts';
import type { FieldType, Grammar, KindGrammar, Rule, RuledMember } from './grammar.ts';

/** The value of a member that has a rule. */
export interface BodyValue {
  readonly type: ValueType;
  /** Its first bytes, where an error may quote them. */
  quote: string;
  /** The first element of an array that is no string. */
  element?: { readonly index: number; readonly type: ValueType; quote: string };
}

export interface BodyValues {
  /** Type of the outermost value. */
  readonly root: ValueType;
  /** By index of the member; undefined for an absent member. */
  readonly members: readonly (BodyValue | undefined)[];
  /** Slug of the room that the body names, or of the kind's; undefined for an unknown room. */
  readonly room: string | undefined;
}

const TYPE_NAMES: Record<FieldType, string> = {
  string: 'a string',
  strings: 'an array of strings',
  'string or strings': 'a string or an array of strings',
};

/** The error for all faults of a body, or undefined for a valid one. */
export function validateBody(
  values: BodyValues,
  kind: KindGrammar,
  { rooms }: Grammar,
): GatewayError | undefined {
  const faults: Fault[] = [];
  let roomFault: ValueType | undefined;
  if (values.root === 'object') {
    for (const member of kind.rules) {
      const value = values.members[member.index];
      const fault = faultOf(member, value, values.room);
      if (fault === undefined) continue;
      faults.push(fault);
      if (member.isRoom) roomFault = value?.type;
    }
  } else {
    faults.push({ pointer: '', detail: notAnObject(values.root) });
  }
  if (faults.length === 0) return undefined;
  const known = roomFault === undefined ? undefined : [...rooms];
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

/** Whether a rule accepts a value of this type, whatever the elements of an array are. */
export function accepts(rule: Rule, type: ValueType | undefined): boolean {
  if (type === undefined || type === 'null') return !rule.required;
  if (type === 'string') return rule.type !== 'strings';
  return type === 'array' && rule.type !== 'string';
}

function faultOf(
  member: RuledMember,
  value: BodyValue | undefined,
  room: string | undefined,
): Fault | undefined {
  const { rule, isRoom } = member;
  if (!accepts(rule, value?.type)) {
    const got = value === undefined ? 'but is missing' : `got ${describe(value)}`;
    return { pointer: pointerTo(member), detail: `${requirement(member)}, ${got}` };
  }
  if (value === undefined) return undefined;
  const { element } = value;
  if (element !== undefined) {
    const { index } = element;
    const detail = `${requirement(member)}, but its element ${index} (from 0) is ${describe(element)}`;
    return { pointer: `${pointerTo(member)}/${index}`, detail };
  }
  if (!isRoom || room !== undefined) return undefined;
  return { pointer: pointerTo(member), detail: `${requirement(member)}, got ${value.quote}` };
}

/** A JSON Pointer (RFC 6901). */
function pointerTo({ name }: RuledMember): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function requirement({ name, rule, isRoom }: RuledMember): string {
  return `"${name}" must be ${isRoom ? 'the slug of a room' : TYPE_NAMES[rule.type]}`;
}

function notAnObject(root: ValueType): string {
  const got = describe({ type: root, quote: '' });
  const hint = root === 'string' ? ': was an object encoded twice?' : '';
  return `the body must be a JSON object, got ${got}${hint}`;
}

function describe({ type, quote }: Pick<BodyValue, 'type' | 'quote'>): string {
  switch (type) {
    case 'number':
    case 'string':
      return quote === '' ? `a ${type}` : `a ${type} (${quote})`;
    case 'array':
    case 'object':
      return `an ${type}`;
    case 'true':
    case 'false':
    case 'null':
      return type;
  }
}
