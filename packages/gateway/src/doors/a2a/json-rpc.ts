/**
 * The binding JSON-RPC of A2A (PROTOCOL.md section 19.2), of versions 1.0 and 0.3.
 * Loaded with the SDK, by the first request that speaks it.
 */
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import { GatewayError } from '@open-presence/protocol';

import { JSON_TYPE } from '../../http/headers.ts';
import { abortOnDisconnect } from '../../http/context.ts';
import type { DoorRequest } from '../context.ts';
import { RawJson, rawValue } from '../../json/raw-json.ts';
import type { Said } from './a2a.ts';
import { Conversation } from './conversation.ts';
import { asA2a } from './errors.ts';
import { give, isFields, isStream, parsed, stream, versionOf } from './giving.ts';
import type { Fields } from './giving.ts';
import { assertMessage } from './message.ts';

const OLD = '0.3';

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

/** A call that can be answered. */
interface Call {
  readonly read: Fields;
  readonly method: string;
  readonly version: string;
}

export async function answerJsonRpc(context: DoorRequest, said: Said): Promise<void> {
  const verbatim = new RawJson();
  const { bytes, read, refusal } = await readOf(said);
  const rawId = await rawIdOf(read, bytes);
  const print = (told: object): string => {
    const id = rawId === undefined ? idOf(read) : verbatim.placeholder(rawId);
    return verbatim.stringifyLast({ ...told, id });
  };
  if (refusal !== undefined || !isFields(read)) {
    await give(context, print({ jsonrpc: '2.0', error: refusal }), JSON_TYPE);
    return;
  }
  const method = String(read['method']);
  // Methods of 0.3 have a slash in their names: whoever does not say the version is understood.
  const version = versionOf(context) ?? (method.includes('/') ? OLD : '1.0');
  const failed = (thrown: unknown): string => {
    const error = asA2a(context, thrown);
    const mapped =
      version === OLD
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
        : JsonRpcTransportHandler.mapToJSONRPCError(error);
    return print({ jsonrpc: '2.0', error: mapped });
  };
  using listening = abortOnDisconnect(context);
  const { signal } = listening;
  const path = ['params', 'message'];
  const conversation = new Conversation({ context, bytes, path, verbatim, signal });
  try {
    const told = await answered(conversation, { read, method, version });
    if (isStream(told)) {
      await stream(context, told, {
        event: (value) => `data: ${print(isFields(value) ? value : {})}`,
        error: (thrown) => `data: ${failed(thrown)}`,
        begun: () => said.begun(),
      });
    } else await give(context, print(told), JSON_TYPE);
  } catch (error) {
    await give(context, failed(error), JSON_TYPE);
  }
}

async function answered(
  conversation: Conversation,
  { read, method, version }: Call,
): Promise<object> {
  validateVersion(version, await conversation.getAgentCard(), 'JSONRPC');
  const known = METHODS[version] ?? [];
  if (!known.includes(method)) {
    const message = `Cannot find the method "${method.slice(0, 100).toWellFormed()}": A2A ${version} has ${known.join(', ')}.`;
    return { jsonrpc: '2.0', error: { code: -32_601, message } };
  }
  const { params } = read;
  if (!isFields(params) && !WITHOUT_PARAMS.test(method)) throw new RequestMalformedError(NO_PARAMS);
  if (SENDING.test(method)) assertMessage(params);
  const handler =
    version === OLD
      ? new LegacyJsonRpcTransportHandler(conversation)
      : new JsonRpcTransportHandler(conversation);
  // The id is told as it was spelled, whatever it is.
  const callContext = new ServerCallContext({ requestedVersion: version });
  const told = await handler.handle({ ...read, id: 0 }, callContext);
  if (!conversation.began && isFault(told)) throw new RequestMalformedError(MISREAD);
  return told;
}

/** The SDK takes for its own fault what it cannot read. */
function isFault(told: object): boolean {
  return 'error' in told && isFields(told.error) && told.error['code'] === -32_603;
}

interface Refusal {
  readonly code: number;
  readonly message: string;
}

interface Read {
  readonly bytes: Buffer;
  readonly read: unknown;
  /** Why it is no call. */
  readonly refusal: Refusal | undefined;
}

async function readOf(said: Said): Promise<Read> {
  let bytes: Buffer = Buffer.alloc(0);
  try {
    bytes = await said.bytes();
    const read = parsed(bytes, EXAMPLE);
    return { bytes, read, refusal: refusalOf(read) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { bytes, read: undefined, refusal: { code: -32_700, message: error.message } };
  }
}

function refusalOf(read: unknown): Refusal | undefined {
  if (Array.isArray(read)) return { code: -32_600, message: NO_BATCH };
  const isCall =
    isFields(read) &&
    read['jsonrpc'] === '2.0' &&
    typeof read['method'] === 'string' &&
    ['string', 'number', 'undefined'].includes(typeof (read['id'] ?? undefined));
  return isCall ? undefined : { code: -32_600, message: NO_CALL };
}

function idOf(read: unknown): string | number | null {
  const id = isFields(read) ? read['id'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** How the id of a call is spelled, if it is a number that a value cannot hold. */
async function rawIdOf(read: unknown, bytes: Buffer): Promise<string | undefined> {
  const id = idOf(read);
  if (typeof id !== 'number' || Number.isSafeInteger(id)) return undefined;
  return String(await rawValue(bytes, ['id']));
}

const EXAMPLE =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"…"}]}}}';
const MISREAD =
  'Cannot read the request: its "params" do not match the A2A schema for this method.';
const NO_BATCH =
  'Cannot read the request: A2A takes one JSON-RPC 2.0 request at a time, not an array.';
const NO_CALL = `Cannot read the request: it is not a JSON-RPC 2.0 request, with "jsonrpc" "2.0", a "method" and an "id" that is a string or a number, such as ${EXAMPLE}.`;
const NO_PARAMS = `Cannot read the request: its "params" must be an object, as in ${EXAMPLE}.`;
