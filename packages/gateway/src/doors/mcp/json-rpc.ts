/** Whether a text is a message of JSON-RPC, and in words what it lacks. The SDK says only that it is none. */
import { hasMoreValues } from '../../json/limits.ts';
import { lastValue, rawMembers, rawValue } from '../../json/raw-json.ts';

export interface Misshapen {
  readonly code: number;
  readonly message: string;
  /** Of the one request, where it has one. */
  readonly id: string | number | null;
}

type Fields = Readonly<Record<string, unknown>>;

export async function messageIn(
  bytes: Buffer,
): Promise<{ message: unknown } | { refusal: Misshapen }> {
  if (await hasMoreValues(bytes, MOST_VALUES)) return { refusal: TOO_MANY };
  try {
    const message: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const wanted = Array.isArray(message) ? wantedOfAll(message) : wantedOf(message);
    if (wanted === undefined) return { message };
    return { refusal: { code: -32_600, message: told(wanted), id: idIn(message) } };
  } catch {
    return { refusal: { code: -32_700, message: told('it must be JSON in UTF-8'), id: null } };
  }
}

/**
 * Bytes of a message. V8 ends with the process where it prints a string of 2 ** 28 characters, and
 * what is in a message may be repeated in an answer, among some words of ours.
 */
export const LONGEST: number = 2 ** 28 - 64 * 1024;
const ELSEWHERE = 'Use POST /api/garden (or another kind) instead, which accepts any length.';
export const TOO_LONG: Misshapen = {
  code: -32_600,
  message: `Cannot read the message: MCP messages are held in memory whole, and this one has more than ${LONGEST} bytes. ${ELSEWHERE}`,
  id: null,
};

/** As a value, each takes many times the room that it is spelled in. */
const MOST_VALUES = 2_000_000;
const TOO_MANY: Misshapen = {
  code: -32_600,
  message: `Cannot read the message: MCP messages are held in memory whole, and this one has more than ${MOST_VALUES} values. ${ELSEWHERE}`,
  id: null,
};
function told(wanted: string): string {
  return `Cannot read the message: ${wanted}. A message is a JSON-RPC 2.0 object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}`;
}

/** By its id it is known what each of several requests says, and which answer is its own. */
function wantedOfAll(messages: readonly unknown[]): string | undefined {
  if (messages.length === 0) return 'it must not be an empty array';
  const ids = new Set<unknown>();
  for (const message of messages) {
    const wanted = wantedOf(message);
    if (wanted !== undefined) return wanted;
    const { id, method } = fieldsOf(message) ?? {};
    if (id === undefined || method === undefined) continue;
    if (ids.has(id)) return `each request must have its own id, but two have ${quoted(id)}`;
    ids.add(id);
  }
  return undefined;
}

function wantedOf(message: unknown): string | undefined {
  const fields = fieldsOf(message);
  if (fields === undefined) return `it must be an object, got ${quoted(message)}`;
  const { jsonrpc, method, id, params, result, error } = fields;
  if (jsonrpc !== '2.0') return `"jsonrpc" must be "2.0", got ${quoted(jsonrpc)}`;
  if (method === undefined && (result !== undefined || error !== undefined)) return undefined;
  if (typeof method !== 'string') return `"method" must be a string, got ${quoted(method)}`;
  if (id !== undefined && !isId(id)) {
    return `"id" must be a string or a whole number within ±${Number.MAX_SAFE_INTEGER}, got ${quoted(id)}`;
  }
  if (params !== undefined && fieldsOf(params) === undefined) {
    return `"params" must be an object, got ${quoted(params)}`;
  }
  return undefined;
}

function idIn(message: unknown): string | number | null {
  const { id } = fieldsOf(message) ?? {};
  return isId(id) ? id : null;
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function fieldsOf(value: unknown): Fields | undefined {
  const is = typeof value === 'object' && value !== null && !Array.isArray(value);
  return is ? Object.fromEntries(Object.entries(value)) : undefined;
}

function quoted(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return JSON.stringify(value).slice(0, 60).toWellFormed();
}

const NOTHING = Buffer.from('{}');

/** The arguments of the call that has this id, as they were spelled. */
export async function argumentsIn(message: Buffer, id: string | number): Promise<Buffer> {
  for await (const valueOf of callsIn(message)) {
    // A response has an id too: that of a request that was made here.
    if (valueOf('method') === undefined || parse(valueOf('id')) !== id) continue;
    const params = valueOf('params');
    return (params && (await rawValue(params, ['arguments']))) ?? NOTHING;
  }
  return NOTHING;
}

/** Separates one member from an object: its last value, and the object without it. */
export async function taken(
  object: Buffer,
  name: string,
): Promise<{ value: unknown; rest: Buffer }> {
  const members = await rawMembers(object);
  const value = lastValue(object, members, name);
  if (value === undefined) return { value: undefined, rest: object };
  const others = members.filter((member) => member.name !== name);
  const rest = others.flatMap(({ start, end }, at) => {
    const member = object.subarray(start, end);
    return at === 0 ? [member] : [COMMA, member];
  });
  return { value: parse(value), rest: Buffer.concat([OPEN, ...rest, CLOSE]) };
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** The values of a call by the name of its member. */
type Call = (name: string) => Buffer | undefined;

/** Before 2025-06-18, several could be sent as one array. */
async function* callsIn(message: Buffer): AsyncGenerator<Call, void, undefined> {
  const members = await rawMembers(message);
  if (members.some(({ name }) => name !== undefined)) {
    yield (name) => lastValue(message, members, name);
    return;
  }
  for (const { valueStart, end } of members) {
    const call = message.subarray(valueStart, end);
    const parts = await rawMembers(call);
    yield (name) => lastValue(call, parts, name);
  }
}

function parse(text: Buffer | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text.toString());
}
