/** Reads what the relay has to know of messages. The relay passes on their bytes, never a new serialization. */

import { asObject, VERSION, type JsonObject } from './message-text.ts';

export type RequestId = string | number;

/** The relay's knowledge of one message, or of a batch. */
export interface MessageInfo {
  /** Whether it looks like JSON-RPC. */
  readonly isMessage: boolean;
  /** The ids of its requests. */
  readonly ids: readonly RequestId[];
  /** Parts of the message that MCP repeats in HTTP headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cancels: RequestId | undefined;
  readonly isInitialize: boolean;
  /** Whether its answer waits for new entries. */
  readonly isLongPolling: boolean;
}

const WAITING_METHODS: ReadonlySet<unknown> = new Set(['subscriptions/listen', 'events/stream']);
const WAITING_TOOLS: ReadonlySet<unknown> = new Set(['catch_up', 'wait_for_news']);

/** `messages`: undefined for a text that is not JSON, which the relay leaves to the gateway to refuse. */
export function inspectMessages(messages: readonly JsonObject[] = []): MessageInfo {
  const requests = messages.filter(
    (message) => typeof message['method'] === 'string' && 'id' in message,
  );
  const [first = {}] = messages;
  const isSingle = messages.length === 1;
  const { method } = first;
  const params = asObject(first['params']);
  const markers = ['method', 'result', 'error'];
  return {
    isMessage:
      messages.length > 0 && messages.every((message) => markers.some((name) => name in message)),
    ids: idsOf(requests),
    headers: isSingle && requests.length === 1 ? headersFor(method, params) : {},
    cancels:
      isSingle && method === 'notifications/cancelled' ? idOf(params['requestId']) : undefined,
    isInitialize: method === 'initialize',
    isLongPolling: WAITING_METHODS.has(method) || WAITING_TOOLS.has(params['name']),
  };
}

/** The requests that these messages answer. */
export function answeredIds(messages: readonly JsonObject[]): RequestId[] {
  return idsOf(messages.filter((message) => !('method' in message)));
}

/** The revision of MCP in the answer to `initialize`. */
export function negotiatedRevision([answer = {}]: readonly JsonObject[]): string | undefined {
  const { protocolVersion } = asObject(answer['result']);
  return typeof protocolVersion === 'string' ? protocolVersion : undefined;
}

export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** An implementation-defined code: the gateway did not answer, or not in JSON-RPC. */
export const UNREACHABLE = -32_000;

/** The error in an answer that is a JSON-RPC error or a problem document. */
export function errorIn([answer = {}]: readonly JsonObject[]): JsonRpcError | undefined {
  const { code, message, data } = asObject(answer['error']);
  if (typeof code === 'number' && typeof message === 'string')
    return data === undefined ? { code, message } : { code, message, data };
  const { detail } = answer;
  return typeof detail === 'string'
    ? { code: UNREACHABLE, message: detail, data: answer }
    : undefined;
}

function idsOf(messages: readonly JsonObject[]): RequestId[] {
  return messages.map((message) => idOf(message['id'])).filter((id) => id !== undefined);
}

function idOf(value: unknown): RequestId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/** The parameter that `Mcp-Name` repeats, by method. */
const NAME_PARAMETERS: ReadonlyMap<unknown, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

function headersFor(method: unknown, params: JsonObject): Record<string, string> {
  const version = asObject(params['_meta'])[VERSION];
  if (typeof version !== 'string') return {};
  const name = params[NAME_PARAMETERS.get(method) ?? ''];
  return {
    'MCP-Protocol-Version': version,
    'Mcp-Method': headerValue(String(method)),
    ...(typeof name === 'string' ? { 'Mcp-Name': headerValue(name) } : {}),
  };
}

/** The text as the value of a header: in base64 if a header cannot carry it as it is. */
function headerValue(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?')) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
