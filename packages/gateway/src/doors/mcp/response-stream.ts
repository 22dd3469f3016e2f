/** Sends a response of the SDK through Node, at the pace of its reader. */
import { PortableSpelling, respelled } from '../../json/portable-spelling.ts';
import type { ServerResponse } from 'node:http';

import { COMMON_HEADERS, NO_STORE } from '../../http/response/headers.ts';
import { drained } from '../../http/response/response-writer.ts';

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

export interface SendOptions {
  /** Whether each chunk of the body is a notification of a subscription. */
  readonly isSubscription: boolean;
  /** Whether the headers are sent before there is a result. */
  readonly isLongPolling: boolean;
}

export async function sendSdkResponse(
  response: ServerResponse,
  { status, headers, body }: Response,
  { isSubscription, isLongPolling }: SendOptions,
): Promise<void> {
  if (response.destroyed) return;
  const { connection: _, ...own } = Object.fromEntries(headers);
  response.writeHead(status, { ...own, ...NO_STORE, ...COMMON_HEADERS });
  if (isLongPolling) {
    response.flushHeaders();
  }
  const reader: BodyReader | undefined = body?.getReader();
  if (reader === undefined) {
    response.end();
    return;
  }
  response.once('close', () => void reader.cancel().catch(() => {}));
  await (isSubscription ? sendNotifications : sendBody)(response, reader);
  if (!response.destroyed) response.end();
}

async function sendBody(response: ServerResponse, body: BodyReader): Promise<void> {
  const spelling = new PortableSpelling();
  for (let step = await body.read(); !step.done; step = await body.read()) {
    if (response.destroyed) return;
    if (!response.write(spelling.replace(step.value))) await drained(response, response);
  }
}

/**
 * Merges notifications while a reader stalls: one says that a resource has changed since it was read, so equal
 * ones are sent once.
 */
async function sendNotifications(response: ServerResponse, body: BodyReader): Promise<void> {
  const pending = new Set<string>();
  let isStalled = false;
  response.on('drain', () => {
    isStalled = pending.size > 0 && !response.write([...pending].join(''));
    pending.clear();
  });
  for (let step = await body.read(); !step.done; step = await body.read()) {
    if (response.destroyed) return;
    const notification = respelled(step.value);
    if (isStalled) pending.add(notification.toString());
    else isStalled = !response.write(notification);
  }
  response.write([...pending].join(''));
}
