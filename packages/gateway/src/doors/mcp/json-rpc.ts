/**
 * JSON-RPC messages before the SDK sees them. Says whether a text is one, and what it lacks: the SDK says only
 * that it is invalid. Keeps the bytes of arguments: parsed values lose the spelling of numbers, and repeated
 * members.
 */
import type { GatewayError } from '@open-presence/protocol';

import { isJsonObject, toJsonObject } from '../../json/json-object.ts';
import { lastValue, rawMembers, rawValue } from '../../json/raw-json.ts';

/** Why a text is not accepted as a message. */
export interface MessageFault {
  readonly code: number;
  readonly message: string;
  /** The id of the single request, if there is one. */
  readonly id: string | number | null;
}

const NULL = Buffer.from('null');
/** Other methods are those of requests. */
const NOTIFICATION = 'notifications/';
const QUOTE = 0x22;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;

export type ParsedMessage =
  | { readonly bytes: Buffer; readonly message: unknown }
  | { readonly fault: MessageFault };

export function parseMessage(bytes: Buffer): ParsedMessage {
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { fault: NO_JSON };
  }
  const detail = Array.isArray(message) ? batchFault(message) : messageFault(message);
  for (const each of [message].flat()) readArguments(toJsonObject(each)['params']);
  if (detail === undefined) return { bytes, message };
  return { fault: fault(INVALID_REQUEST, detail, toJsonObject(message)['id']) };
}

/** Some clients send arguments as JSON text, or null for none. */
function readArguments(params: unknown): void {
  if (typeof params !== 'object' || params === null || !('arguments' in params)) return;
  if (params.arguments === null) params.arguments = {};
  if (typeof params.arguments !== 'string') return;
  try {
    const read: unknown = JSON.parse(unwrapped(params.arguments));
    if (isJsonObject(read)) params.arguments = read;
  } catch {
    // The SDK refuses what is no object.
  }
}

/** The JSON text of an object that came as text; empty text and `null` are no arguments. */
function unwrapped(text: string): string {
  return /^\s*(?:null\s*)?$/.test(text) ? '{}' : text;
}

/** For a message that needs more than `limit` bytes of memory. */
export function tooLong(limit: number, id: unknown): MessageFault {
  const message = `Cannot read the message: all of it but the members of an entry is held in memory, also "idempotencyKey", and that is more than ${limit} bytes here. Shorten it, give long members of an entry as arguments of their own, or split it into several messages.`;
  return { code: INVALID_REQUEST, message, id: isId(id) ? id : null };
}

/** For a body that cannot be decoded, is not JSON, or cannot be written to a file. */
export function toFault({ code, message }: GatewayError): MessageFault {
  if (code === 'malformed-json') return NO_JSON;
  const isStorageFault = code === 'out-of-space' || code === 'unavailable';
  return { code: isStorageFault ? INTERNAL_ERROR : PARSE_ERROR, message, id: null };
}

function fault(code: number, detail: string, id: unknown): MessageFault {
  const message = `Cannot read the message: ${detail}. A message is a JSON-RPC 2.0 object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}`;
  return { code, message, id: isId(id) ? id : null };
}

const NO_JSON = fault(PARSE_ERROR, 'it must be JSON in UTF-8', null);

/** Requests of a batch need different ids: by its id, the arguments of each are found. */
function batchFault(messages: readonly unknown[]): string | undefined {
  if (messages.length === 0) return 'it must not be an empty array';
  const ids = new Set<unknown>();
  for (const message of messages) {
    const detail = messageFault(message);
    if (detail !== undefined) return detail;
    const { id, method } = toJsonObject(message);
    if (id === undefined || method === undefined) continue;
    if (ids.has(id)) return `each request must have its own id, but two have ${quoted(id)}`;
    ids.add(id);
  }
  return undefined;
}

function messageFault(message: unknown): string | undefined {
  if (!isJsonObject(message)) return `it must be an object, got ${quoted(message)}`;
  const { jsonrpc, method, id, params, result, error } = message;
  if (jsonrpc !== '2.0') return `"jsonrpc" must be "2.0", got ${quoted(jsonrpc)}`;
  if (method === undefined && (result !== undefined || error !== undefined)) return undefined;
  if (typeof method !== 'string') return `"method" must be a string, got ${quoted(method)}`;
  if (id === undefined && !method.startsWith(NOTIFICATION))
    return `"id" is missing: without one, ${quoted(method)} would get no answer, and nothing would be done`;
  if (id !== undefined && !isId(id)) {
    return `"id" must be a string or a whole number within ±${Number.MAX_SAFE_INTEGER}, got ${quoted(id)}`;
  }
  if (params !== undefined && !isJsonObject(params)) {
    return `"params" must be an object, got ${quoted(params)}`;
  }
  return undefined;
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function quoted(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  return JSON.stringify(value).slice(0, 60).toWellFormed();
}

const EMPTY_OBJECT = Buffer.from('{}');

const argumentsOf = new WeakMap<Buffer, Promise<ReadonlyMap<unknown, Buffer>>>();

/** The bytes of the arguments in the request with this id. */
export async function rawArguments(message: Buffer, id: string | number): Promise<Buffer> {
  const byId = argumentsOf.get(message) ?? argumentsById(message);
  argumentsOf.set(message, byId);
  return (await byId).get(id) ?? EMPTY_OBJECT;
}

async function argumentsById(message: Buffer): Promise<ReadonlyMap<unknown, Buffer>> {
  const byId = new Map<unknown, Buffer>();
  for await (const valueOf of requestsIn(message)) {
    // Ids of responses are those of the gateway's requests.
    const params = valueOf('method') === undefined ? undefined : valueOf('params');
    const args = params && (await rawValue(params, ['arguments']));
    if (args === undefined || args.equals(NULL)) continue;
    const isText = args[0] === QUOTE;
    byId.set(parse(valueOf('id')), isText ? Buffer.from(unwrapped(String(parse(args)))) : args);
  }
  return byId;
}

/** Looks up the bytes of a member's value by the member's name. */
type MemberLookup = (name: string) => Buffer | undefined;

/** A message, or each of a batch, which revisions before 2025-06-18 have. */
async function* requestsIn(message: Buffer): AsyncGenerator<MemberLookup, void, undefined> {
  const members = await rawMembers(message);
  if (members.some(({ name }) => name !== undefined)) {
    yield (name) => lastValue(message, members, name);
    return;
  }
  for (const { valueStart, end } of members) {
    const request = message.subarray(valueStart, end);
    const requestMembers = await rawMembers(request);
    yield (name) => lastValue(request, requestMembers, name);
  }
}

/** The bytes of an object's members with these names, and the others as they are spelled. */
export async function takeMembers<Name extends string>(
  object: Buffer,
  names: readonly Name[],
): Promise<{ taken: Partial<Record<Name, Buffer>>; others: string[] | undefined }> {
  const members = await rawMembers(object);
  const taken: Partial<Record<Name, Buffer>> = {};
  for (const name of names) {
    const value = lastValue(object, members, name);
    if (value !== undefined) taken[name] = value;
  }
  const isOther = ({ name }: (typeof members)[number]): boolean =>
    !names.some((one) => one === name);
  const others = members
    .filter(isOther)
    .map(({ start, end }) => object.toString('utf8', start, end));
  return { taken, others: others.length === members.length ? undefined : others };
}

function parse(text: Buffer | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text.toString());
}
