/** How both bindings of A2A send one response. */
import { isDisconnected } from '../../http/context.ts';
import { NO_STORE, vary, type Headers } from '../../http/response/headers.ts';
import { sendResponse } from '../../http/response/response.ts';
import { replaceHalves } from '../../json/half-surrogates.ts';
import type { DoorRequest } from '../context.ts';

interface TextResponse {
  readonly text: string;
  readonly type: string;
  readonly status?: number;
  readonly headers?: Headers | undefined;
}

export async function sendText(
  context: DoorRequest,
  { text, type, status = 200, headers = {} }: TextResponse,
): Promise<void> {
  if (isDisconnected(context)) return;
  const all = { ...NO_STORE, ...vary(), ...headers };
  await sendResponse(context, {
    status,
    type,
    headers: all,
    body: replaceHalves(Buffer.from(text)),
  });
}

export function isStream(result: object): result is AsyncIterable<unknown> {
  return Symbol.asyncIterator in result;
}
