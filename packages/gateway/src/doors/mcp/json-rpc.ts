/** JSON-RPC messages before the SDK sees them. */
import type { GatewayError } from '@open-presence/protocol';

import { isJsonObject, toJsonObject } from '../../json/json-object.ts';
import { parseMessage } from '../json-message.ts';

/** Why a text is not accepted as a message. */
export interface MessageFault {
  readonly code: number;
  readonly message: string;
  /** The id of the request, if there is one. */
  readonly id: unknown;
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** What the SDK answers only with "invalid"; undefined for a message that it can handle. */
export function faultOf(message: unknown): MessageFault | undefined {
  const { jsonrpc, method, id = null, result, error } = toJsonObject(message);
  const isCall = typeof method === 'string';
  const isCallWithoutId = isCall && id === null && !method.startsWith('notifications/');
  if (jsonrpc === '2.0' && (isCall ? !isCallWithoutId : (result ?? error) !== undefined))
    return undefined;
  const detail = isCallWithoutId ? 'its "id" is missing' : 'it is no JSON-RPC 2.0 message';
  const text = `Cannot read the message: ${detail}. Send one object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}`;
  return { code: INVALID_REQUEST, message: text, id };
}

export function faultOfBody({ code, message }: GatewayError): MessageFault {
  return { code: code === 'malformed-json' ? PARSE_ERROR : INVALID_REQUEST, message, id: null };
}

/** Some clients send arguments as JSON text, or null for none. */
export function readArguments(message: unknown, changed: Set<string>): void {
  const params = toJsonObject(message)['params'];
  if (!isJsonObject(params) || !('arguments' in params)) return;
  const { arguments: given } = params;
  const read = typeof given === 'string' ? parsed(given, changed) : (given ?? {});
  if (read !== undefined) Object.assign(params, { arguments: read });
}

function parsed(text: string, changed: Set<string>): unknown {
  try {
    return parseMessage(text.trim() || '{}', changed) ?? {};
  } catch {
    return undefined;
  }
}
