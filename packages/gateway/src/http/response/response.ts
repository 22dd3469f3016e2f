/** Responses whose body is in memory. */
import { portableJson } from '@open-presence/protocol';

import { hash } from 'node:crypto';

import { compress, MIN_COMPRESSED_SIZE } from './compression.ts';
import { isDisconnected, type RequestContext, type StartupContext } from '../context.ts';
import { COMMON_HEADERS, contentEncoding, etag, type Headers } from './headers.ts';
import { preferredEncoding, type Encoding } from '../negotiation.ts';
import { sendNotModified } from './not-modified.ts';

/** For `HEAD`, Node leaves the body out. */
export interface BufferedResponse {
  readonly status: number;
  readonly type: string;
  readonly headers?: Headers;
  readonly body: Uint8Array;
  /** A strong tag gets the content encoding appended. */
  readonly tag?: string | undefined;
}

/** Sends the response, compressed if it is large enough and the caller accepts that, or 304. */
export async function sendResponse(
  context: RequestContext<StartupContext>,
  { body, ...response }: BufferedResponse,
): Promise<void> {
  const large = body.length >= MIN_COMPRESSED_SIZE;
  const { headers } = context.request;
  const encoding = large ? preferredEncoding(headers['accept-encoding']) : undefined;
  await sendEncoded(context, response, encoding, () => {
    return encoding === undefined ? body : compress(encoding, body);
  });
}

/** Sends what `encode` returns, which has this encoding; or 304, without calling it. */
export async function sendEncoded(
  context: RequestContext<StartupContext>,
  { status, type, headers: own, tag }: Omit<BufferedResponse, 'body'>,
  encoding: Encoding | undefined,
  encode: () => Uint8Array | Promise<Uint8Array>,
): Promise<void> {
  const { response } = context;
  const headers = { ...COMMON_HEADERS, ...etag(tag, encoding), ...own };
  if (sendNotModified(context, headers.ETag, headers)) return;
  const encoded = encode();
  const body = encoded instanceof Uint8Array ? encoded : await encoded;
  if (isDisconnected(context)) return;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': String(body.length),
    ...contentEncoding(encoding),
    ...headers,
  });
  response.end(body);
}

export function jsonBody(value: unknown): Buffer {
  return Buffer.from(`${portableJson(value)}\n`);
}

/** Identifies content in tags. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 12);
}
