/**
 * Takes turns at parsing large messages that must be in memory at once (MCP, A2A): parsed, they take
 * many times the memory of their bytes. One queue serves all protocols.
 */
import type { GatewayError } from '@open-presence/protocol';

import type { RequestContext } from '../context.ts';
import { sendError } from '../response/problem.ts';
import { discardBody, readBody } from './request-body.ts';

/** Messages up to this size, in bytes, do not wait. */
const MAX_UNQUEUED_SIZE = 1024 * 1024;

export interface MessageReceiver {
  readonly maxSize: number;
  /** `release` lets the next large message start: to be called when a response may never end. */
  readonly handle: (bytes: Buffer, release: () => void) => Promise<void>;
  /** Answers a message that cannot be decoded, or else is larger than `maxSize` bytes. */
  readonly refuse: (undecodable?: GatewayError) => Promise<void>;
}

export function receiveMessage(
  context: RequestContext,
  { maxSize, handle, refuse }: MessageReceiver,
): void {
  const fail = (error: unknown): void => sendError(context, error);
  const refuseAll = (undecodable?: GatewayError): void => {
    const refused = refuse(undecodable).catch(fail);
    void refused.then(() => discardBody(context.request));
  };
  readBody(context.request, maxSize, {
    onSmall(bytes) {
      runInTurn(bytes, (release) => handle(bytes, release)).catch(fail);
    },
    onLarge: () => refuseAll(),
    onError: refuseAll,
  });
}

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Runs the task at once for a small message, else after the tasks of earlier large ones. A turn ends
 * with its task, or when the task calls `release`.
 */
async function runInTurn(
  bytes: Buffer,
  task: (release: () => void) => Promise<void>,
): Promise<void> {
  if (bytes.length <= MAX_UNQUEUED_SIZE) return await task(() => {});
  const previous = lastTurn;
  const { promise, resolve: release } = Promise.withResolvers<void>();
  lastTurn = promise;
  await previous;
  await task(release).finally(release);
}
