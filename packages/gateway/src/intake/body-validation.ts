/** The rules for members (PROTOCOL.md section 6), and the error that names all faults of a body. */
import { GatewayError, quoted, type Fault } from '@open-presence/protocol';

import type { ValueType } from '../json/handler.ts';
import { decodeWhole } from '../json/utf8.ts';
import type { Grammar, KindGrammar, Rule, RuledMember } from './grammar.ts';

/** The value of a member that has a rule. */
export interface BodyValue {
  readonly type: ValueType;
  /** Its first bytes, where an error may quote them; one more than that if it is longer. */
  quote: Buffer;
  /** The first element of an array that is no string. */
  element?: Pick<BodyValue, 'type' | 'quote'> & { readonly index: number };
}

/** Bytes of a value that an error quotes. */
export const MAX_QUOTE = 40;
export const NO_QUOTE: Buffer = Buffer.alloc(0);

export interface BodyValues {
  /** Type of the outermost value. */
  readonly root: ValueType;
  readonly members: ReadonlyMap<string, BodyValue>;
  /** Names that a caller may have given to a missing member. */
  readonly names: readonly string[];
  /** Slug of the room that the body names, or of the kind's; undefined for an unknown room. */
  readonly room: string | undefined;
}

const TYPE_NAMES: Record<Rule['type'], string> = {
  string: 'a string',
  'string or number': 'a string or a number',
  strings: 'an array of strings',
  'string or strings': 'a string or an array of strings',
};

/** The error for all faults of a body, or undefined for a valid one. */
export function validateBody(
  values: BodyValues,
  kind: KindGrammar,
  { rooms }: Grammar,
): GatewayError | undefined {
  const { root, members } = values;
  const faults =
    root === 'object'
      ? kind.rules.flatMap((member) => faultOf(member, values, kind) ?? [])
      : [{ pointer: '', detail: notAnObject(root) }];
  if (faults.length === 0) return undefined;
  const known = faults.some(({ pointer }) => pointer === '/room') ? [...rooms] : undefined;
  const isRoomOnly = known !== undefined && faults.length === 1;
  const sentence = faults.map(({ detail }) => detail).join('; ');
  const list = known === undefined ? '' : `. The rooms are ${known.join(', ')}`;
  return new GatewayError(
    isRoomOnly && members.get('room')?.type === 'string' ? 'unknown-room' : 'invalid-entry',
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
  if (type === 'number') return rule.type === 'string or number';
  return type === 'array' && rule.type.includes('strings');
}

function faultOf(
  { name, rule, isRoom }: RuledMember,
  { members, names, room }: BodyValues,
  { meant }: KindGrammar,
): Fault | undefined {
  const value = members.get(name);
  // A JSON Pointer (RFC 6901).
  const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const wanted = `"${name}" must be ${isRoom ? 'the slug of a room' : TYPE_NAMES[rule.type]}`;
  if (!accepts(rule, value?.type)) {
    const got =
      value === undefined
        ? `but is missing${suggestion(meant?.meaning(names, name))}`
        : `got ${describe(value)}`;
    return { pointer, detail: `${wanted}, ${got}` };
  }
  if (value?.element !== undefined) {
    const { index } = value.element;
    const got = `but its element ${index} (from 0) is ${describe(value.element)}`;
    return { pointer: `${pointer}/${index}`, detail: `${wanted}, ${got}` };
  }
  if (value === undefined || !isRoom || room !== undefined) return undefined;
  return { pointer, detail: `${wanted}, got ${quotedStart(value.quote)}` };
}

function suggestion(name: string | undefined): string {
  return name === undefined ? '' : ` (did you mean it by ${quoted(name)}?)`;
}

function notAnObject(root: ValueType): string {
  const hint = root === 'string' ? ': was an object encoded twice?' : '';
  return `the body must be a JSON object, got ${describe({ type: root, quote: NO_QUOTE })}${hint}`;
}

function describe({ type, quote }: Pick<BodyValue, 'type' | 'quote'>): string {
  if (type === 'true' || type === 'false' || type === 'null') return type;
  if (type === 'array' || type === 'object') return `an ${type}`;
  return quote.length === 0 ? `a ${type}` : `a ${type} (${quotedStart(quote)})`;
}

function quotedStart(quote: Uint8Array): string {
  if (quote.length <= MAX_QUOTE) return decodeWhole(quote);
  return `${decodeWhole(quote.subarray(0, MAX_QUOTE))}…`;
}
