/**
 * The JSON-RPC binding of A2A, versions 1.0 and 0.3 (PROTOCOL.md section 19.2).
 * Imported with the SDK when the first request of this binding arrives.
 */
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import { type Code, GatewayError } from '@open-presence/protocol';

import { abortOnDisconnect } from '../../http/context.ts';
import { JSON_TYPE } from '../../http/response/headers.ts';
import { isJsonObject, type JsonObject, toJsonObject } from '../../json/json-object.ts';
import { RawJson, rawValue } from '../../json/raw-json.ts';
import type { DoorRequest } from '../context.ts';
import { toA2aError } from './errors.ts';
import { assertMessage } from './messages/validate-message.ts';
import { parseRequest, type ReceivedRequest, requestedVersion } from './received-request.ts';
import { RequestHandler } from './request-handler.ts';
import { streamEvents } from '../stream-events.ts';
import { isStream, sendText } from './responses.ts';

const OLD = '0.3';

const CALL_EXAMPLE =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"…"}]}}}';

const METHODS: Readonly<Record<string, readonly string[]>> = {
  '1.0': [
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
  ],
  [OLD]: [
    'message/send',
    'message/stream',
    'tasks/get',
    'tasks/cancel',
    'tasks/resubscribe',
    'tasks/pushNotificationConfig/set',
    'tasks/pushNotificationConfig/get',
    'tasks/pushNotificationConfig/list',
    'tasks/pushNotificationConfig/delete',
    'agent/getAuthenticatedExtendedCard',
  ],
};
const SENDING = /^(?:Send(?:Streaming)?Message|message\/(?:send|stream))$/;
const WITHOUT_PARAMS = /ExtendedAgentCard$|ExtendedCard$/;

export async function handleJsonRpc(
  context: DoorRequest,
  received: ReceivedRequest,
): Promise<void> {
  const rawJson = new RawJson();
  const call = await readCall(received);
  const stringify = (response: object): string => stringifyResponse(response, call, rawJson);
  const send = (text: string): Promise<void> => sendText(context, { text, type: JSON_TYPE });
  const { bytes, body, error } = call;
  if (body === undefined) return await send(stringify({ jsonrpc: '2.0', error }));
  const version = versionOf(context, body);
  const stringifyError = (thrown: unknown): string =>
    stringify({ jsonrpc: '2.0', error: jsonRpcError(context, version, thrown) });
  using caller = abortOnDisconnect(context);
  const { signal } = caller;
  const path = ['params', 'message'];
  const { large } = received;
  const handler = new RequestHandler({ context, bytes, path, large, rawJson, signal });
  try {
    const result = await callMethod(handler, body, version);
    if (!isStream(result)) return await send(stringify(result));
    const format = {
      event: (value: unknown) => `data: ${stringify(toJsonObject(value))}`,
      error: (thrown: unknown) => `data: ${stringifyError(thrown)}`,
    };
    await streamEvents(context, result, format, () => received.streamStarted());
  } catch (thrown) {
    await send(stringifyError(thrown));
  }
}

/** The id of the call is sent back as it was spelled. */
function stringifyResponse(response: object, { id, rawId }: JsonRpcCall, rawJson: RawJson): string {
  const sent = rawId === undefined ? id : rawJson.placeholder(rawId);
  return rawJson.stringifyLast({ ...response, id: sent });
}

/** Only methods of 0.3 have a slash in their names, so a call needs no version. */
function versionOf(context: DoorRequest, body: JsonObject): string {
  return requestedVersion(context) ?? (String(body['method']).includes('/') ? OLD : '1.0');
}

function jsonRpcError(context: DoorRequest, version: string, thrown: unknown): object {
  const error = toA2aError(context, thrown);
  return version === OLD
    ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
    : JsonRpcTransportHandler.mapToJSONRPCError(error);
}

async function callMethod(
  handler: RequestHandler,
  body: JsonObject,
  version: string,
): Promise<object> {
  validateVersion(version, await handler.getAgentCard(), 'JSONRPC');
  const { params } = body;
  const method = String(body['method']);
  const known = METHODS[version] ?? [];
  if (!known.includes(method)) {
    const message = `Cannot find the method "${method.slice(0, 100).toWellFormed()}": A2A ${version} has ${known.join(', ')}.`;
    return { jsonrpc: '2.0', error: { code: -32_601, message } };
  }
  if (!isJsonObject(params) && !WITHOUT_PARAMS.test(method)) {
    throw new RequestMalformedError(NO_PARAMS);
  }
  if (SENDING.test(method)) assertMessage(params);
  const transport =
    version === OLD
      ? new LegacyJsonRpcTransportHandler(handler)
      : new JsonRpcTransportHandler(handler);
  const callContext = new ServerCallContext({ requestedVersion: version });
  // The id is replaced when the response is written.
  const response = await transport.handle({ ...body, id: 0 }, callContext);
  if (!handler.called && isInternalError(response)) throw new RequestMalformedError(MISREAD);
  return response;
}

/** The SDK answers params that it cannot read with an internal error. */
function isInternalError(response: object): boolean {
  return 'error' in response && toJsonObject(response.error)['code'] === -32_603;
}

const MISREAD =
  'Cannot read the request: its "params" do not match the A2A schema for this method.';
const NO_PARAMS = `Cannot read the request: its "params" must be an object, as in ${CALL_EXAMPLE}.`;

interface JsonRpcError {
  readonly code: number;
  readonly message: string;
}

interface JsonRpcCall {
  readonly bytes: Buffer;
  /** The parsed request; undefined where `error` says why it is not a call. */
  readonly body: JsonObject | undefined;
  readonly error: JsonRpcError | undefined;
  readonly id: string | number | null;
  /** The id as it was sent, where it is a number that JavaScript cannot represent. */
  readonly rawId: string | undefined;
}

async function readCall(received: ReceivedRequest): Promise<JsonRpcCall> {
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

const BATCH =
  'Cannot read the request: A2A takes one JSON-RPC 2.0 request at a time, not an array.';
const INVALID = `Cannot read the request: it is not a JSON-RPC 2.0 request, with "jsonrpc" "2.0", a "method" and an "id" that is a string or a number, such as ${CALL_EXAMPLE}.`;
