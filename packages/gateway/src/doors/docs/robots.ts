/** What robots are asked (RFC 9309): to read all they like, and to say nothing unless they mean it. */
import { sendResponse } from '../../http/response.ts';
import { NO_CACHE, vary } from '../../http/headers.ts';
import type { DoorRequest } from '../context.ts';

const TEXT = 'User-agent: *\nDisallow: /api/say\nAllow: /\n';

export async function robots(context: DoorRequest): Promise<void> {
  const headers = { ...NO_CACHE, ...vary() };
  const type = 'text/plain; charset=utf-8';
  const body = Buffer.from(TEXT);
  await sendResponse(context, { status: 200, type, headers, body, tag: '"robots"' });
}
