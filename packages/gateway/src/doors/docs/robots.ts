/** What robots are asked (RFC 9309): to read all they like, and to say nothing unless they mean it. */
import { answer } from '../../http/answers.ts';
import { REVALIDATE, vary } from '../../http/headers.ts';
import type { DoorRequest } from '../context.ts';

const TEXT = 'User-agent: *\nDisallow: /api/say\nAllow: /\n';

export async function robots(context: DoorRequest): Promise<void> {
  const headers = { ...REVALIDATE, ...vary() };
  const type = 'text/plain; charset=utf-8';
  const body = Buffer.from(TEXT);
  await answer(context, { status: 200, type, headers, body, tag: '"robots"' });
}
