/** Writing answers: what they all carry, and how whole ones are sent. */
import { hash } from 'node:crypto';

import { encodingOf, hasTag } from './negotiation.ts';
import { compressed, WORTH_COMPRESSING } from './compression.ts';
import { isGone, type RequestContext, type StartupContext } from './context.ts';
import { COMMON, encodedAs, tagged, type Headers } from './headers.ts';

/** A whole answer. For `HEAD`, Node leaves the body out. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers?: Headers;
  readonly body: Uint8Array;
  /** Weak, or one that the encoding may be added to. */
  readonly tag?: string;
}

/** Sends an answer, compressed if that is wished for and worth it; 304 if the caller has it. */
export async function answer(
  context: RequestContext<StartupContext>,
  whole: Answer,
): Promise<void> {
  const { request, response } = context;
  const worth = whole.body.length >= WORTH_COMPRESSING;
  const encoding = worth ? encodingOf(request.headers['accept-encoding']) : undefined;
  const headers = { ...COMMON, ...tagged(whole.tag, encoding), ...whole.headers };
  if (hasTag(request.headers['if-none-match'], headers.ETag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  const body = encoding === undefined ? whole.body : await compressed(encoding, whole.body);
  if (isGone(context)) return;
  response.writeHead(whole.status, {
    'Content-Type': whole.type,
    'Content-Length': String(body.length),
    ...encodedAs(encoding),
    ...headers,
  });
  response.end(body);
}

export function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Tells one content from another in tags. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 12);
}
