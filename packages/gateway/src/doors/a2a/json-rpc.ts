/** The JSON-RPC binding of A2A 1.0 (PROTOCOL.md section 19.2). Imported with the SDK when the first call arrives. */
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';

import { abortOnDisconnect, isDisconnected } from '../../http/context.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { JSON_TYPE, NO_STORE, vary } from '../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { toJsonObject } from '../../json/json-object.ts';
import type { DoorRequest } from '../context.ts';
import { streamEvents } from '../stream-events.ts';
import { toA2aError } from './errors.ts';
import { RequestHandler } from './request-handler.ts';

const VERSION = '1.0';
const METHOD_NOT_FOUND = -32_601;
const NO_METHOD =
  'Cannot call the method: there is none of this name. A2A 1.0 has SendMessage, SendStreamingMessage, GetTask and SubscribeToTask.';

export async function handleJsonRpc(
  context: DoorRequest,
  message: unknown,
  changed: Set<string>,
): Promise<void> {
  const call = toJsonObject(message);
  const { id = null } = call;
  const errorOf = (thrown: unknown): object => ({
    jsonrpc: '2.0',
    id,
    error: JsonRpcTransportHandler.mapToJSONRPCError(toA2aError(context, thrown)),
  });
  using caller = abortOnDisconnect(context);
  const handler = new RequestHandler({ context, changed, signal: caller.signal });
  let result: object;
  try {
    const requestedVersion = versionIn(context);
    validateVersion(requestedVersion, await handler.getAgentCard(), 'JSONRPC');
    const transport = new JsonRpcTransportHandler(handler);
    result = await transport.handle({ ...call }, new ServerCallContext({ requestedVersion }));
    const { code } = toJsonObject(toJsonObject(result)['error']);
    if (code === METHOD_NOT_FOUND)
      result = { jsonrpc: '2.0', id, error: { code, message: NO_METHOD } };
    if (isStream(result)) {
      const format = {
        event: (value: unknown) => `data: ${JSON.stringify(value)}`,
        error: (thrown: unknown) => `data: ${JSON.stringify(errorOf(thrown))}`,
      };
      return await streamEvents(context, result, format);
    }
  } catch (thrown) {
    result = errorOf(thrown);
  }
  if (isDisconnected(context)) return;
  const headers = { ...NO_STORE, ...vary() };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body: jsonBody(result) });
}

function isStream(result: object): result is AsyncIterable<unknown> {
  return Symbol.asyncIterator in result;
}

/** By a header or a query parameter, without its patch version (A2A section 3.6). */
function versionIn({ request }: DoorRequest): string {
  const header = request.headers['a2a-version'];
  const value = typeof header === 'string' ? header : queryOf(request).get('A2A-Version');
  return (value?.trim() || VERSION).replace(/^(\d+\.\d+)\.\d+$/, '$1');
}
