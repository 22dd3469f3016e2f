/** Responses whose body is in memory. */
import { hash } from 'node:crypto';

import { compress, MIN_COMPRESSED_SIZE } from './compression.ts';
import { isDisconnected, type RequestContext, type StartupContext } from './context.ts';
import { COMMON_HEADERS, contentEncoding, etag, type Headers } from './headers.ts';
import { preferredEncoding } from './negotiation.ts';
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
  { status, type, headers: own, body: plain, tag }: BufferedResponse,
): Promise<void> {
  const { request, response } = context;
  const large = plain.length >= MIN_COMPRESSED_SIZE;
  const encoding = large ? preferredEncoding(request.headers['accept-encoding']) : undefined;
  const headers = { ...COMMON_HEADERS, ...etag(tag, encoding), ...own };
  if (sendNotModified(context, headers.ETag, headers)) return;
  const body = encoding === undefined ? plain : await compress(encoding, plain);
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
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Identifies content in tags. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 12);
}
