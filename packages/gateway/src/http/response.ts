/** Writing answers: what they all carry, and how whole ones are sent. */
import { hash } from 'node:crypto';

import { preferredEncoding, matchesEtag } from './negotiation.ts';
import { compress, MIN_COMPRESSED_SIZE } from './compression.ts';
import { isDisconnected, type RequestContext, type StartupContext } from './context.ts';
import { COMMON_HEADERS, contentEncoding, etag, type Headers } from './headers.ts';

/** A whole answer. For `HEAD`, Node leaves the body out. */
export interface BufferedResponse {
  readonly status: number;
  readonly type: string;
  readonly headers?: Headers;
  readonly body: Uint8Array;
  /** Weak, or one that the encoding may be added to. */
  readonly tag?: string;
}

/** Sends an answer, compressed if that is wished for and worth it; 304 if the caller has it. */
export async function sendResponse(
  context: RequestContext<StartupContext>,
  whole: BufferedResponse,
): Promise<void> {
  const { request, response } = context;
  const worth = whole.body.length >= MIN_COMPRESSED_SIZE;
  const encoding = worth ? preferredEncoding(request.headers['accept-encoding']) : undefined;
  const headers = { ...COMMON_HEADERS, ...etag(whole.tag, encoding), ...whole.headers };
  if (matchesEtag(request.headers['if-none-match'], headers.ETag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const body = encoding === undefined ? whole.body : await compress(encoding, whole.body);
  if (isDisconnected(context)) return;
  response.writeHead(whole.status, {
    'Content-Type': whole.type,
    'Content-Length': String(body.length),
    ...contentEncoding(encoding),
    ...headers,
  });
  response.end(body);
}

export function jsonBody(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Tells one content from another in tags. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 12);
}
