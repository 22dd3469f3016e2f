/** Reads a JSON-RPC 2.0 call from the bytes of a request. */
import { GatewayError, type Code } from '@open-presence/protocol';

import { isJsonObject, toJsonObject, type JsonObject } from '../../json/json-object.ts';
import { rawValue } from '../../json/raw-json.ts';
import { parseRequest, type ReceivedRequest } from './received-request.ts';

interface JsonRpcError {
  readonly code: number;
  readonly message: string;
}

export interface JsonRpcCall {
  readonly bytes: Buffer;
  /** The parsed request; undefined where `error` says why it is not a call. */
  readonly body: JsonObject | undefined;
  readonly error: JsonRpcError | undefined;
  readonly id: string | number | null;
  /** The id as it was sent, where it is a number that JavaScript cannot represent. */
  readonly rawId: string | undefined;
}

export async function readCall(received: ReceivedRequest): Promise<JsonRpcCall> {
  let bytes: Buffer;
  let value: unknown;
  try {
    bytes = await received.bytes();
    value = parseRequest(bytes, CALL_EXAMPLE);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message } = error;
    const id = idOf({ id: await received.large?.id() });
    return { ...NO_CALL, id, error: { code: CODES[code] ?? -32_700, message } };
  }
  const id = idOf(value);
  const rawId = isExact(id) ? undefined : String(await rawValue(bytes, ['id']));
  if (isCall(value)) return { bytes, body: value, error: undefined, id, rawId };
  const message = Array.isArray(value) ? BATCH : INVALID;
  return { bytes, body: undefined, error: { code: -32_600, message }, id, rawId };
}

function isCall(value: unknown): value is JsonObject {
  return (
    isJsonObject(value) &&
    value['jsonrpc'] === '2.0' &&
    typeof value['method'] === 'string' &&
    ['string', 'number', 'undefined'].includes(typeof (value['id'] ?? undefined))
  );
}

function idOf(value: unknown): string | number | null {
  const { id } = toJsonObject(value);
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isExact(id: string | number | null): boolean {
  return typeof id !== 'number' || Number.isSafeInteger(id);
}

const NO_CALL = { bytes: Buffer.alloc(0), body: undefined, id: null, rawId: undefined };

/** The codes of all errors but a body that is not JSON. */
const CODES: Readonly<Partial<Record<Code, number>>> = {
  'invalid-entry': -32_600,
  'out-of-space': -32_603,
  unavailable: -32_603,
};

export const CALL_EXAMPLE =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"…"}]}}}';
const BATCH =
  'Cannot read the request: A2A takes one JSON-RPC 2.0 request at a time, not an array.';
const INVALID = `Cannot read the request: it is not a JSON-RPC 2.0 request, with "jsonrpc" "2.0", a "method" and an "id" that is a string or a number, such as ${CALL_EXAMPLE}.`;
