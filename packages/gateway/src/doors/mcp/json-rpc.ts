/** JSON-RPC messages before the SDK sees them. */
import { isJsonObject, toJsonObject } from '../../json/json-object.ts';

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
  for (const each of [message].flat()) {
    const { jsonrpc, method, id = null, result, error } = toJsonObject(each);
    const isCall = typeof method === 'string';
    const isCallWithoutId = isCall && id === null && !method.startsWith('notifications/');
    if (jsonrpc === '2.0' && (isCall ? !isCallWithoutId : (result ?? error) !== undefined))
      continue;
    const detail = isCallWithoutId ? 'its "id" is missing' : 'it is no JSON-RPC 2.0 message';
    const text = `Cannot read the message: ${detail}. A message is an object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}`;
    return { code: INVALID_REQUEST, message: text, id };
  }
  return undefined;
}

export function faultOfBody(code: string, message: string): MessageFault {
  return { code: code === 'malformed-json' ? PARSE_ERROR : INVALID_REQUEST, message, id: null };
}

/** Some clients send arguments as JSON text, or null for none. */
export function readArguments(message: unknown): void {
  for (const each of [message].flat()) {
    const params = toJsonObject(each)['params'];
    if (!isJsonObject(params) || !('arguments' in params)) continue;
    const { arguments: given } = params;
    const read = typeof given === 'string' ? parsed(given) : (given ?? {});
    if (read !== undefined) Object.assign(params, { arguments: read });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim() || '{}') ?? {};
  } catch {
    return undefined;
  }
}
