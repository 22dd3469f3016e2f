/**
 * Draws cards in a thread of its own, one at a time, so that no request waits for the processor. The thread
 * starts with the first card and ends a minute after the last: it takes some sixty megabytes.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import type { Card } from '@open-presence/web/page-data';

import { threadModule } from '../../../thread-module.ts';

const IDLE_MS = 60_000;

let thread: Worker | undefined;
let idle: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();

/** A PNG. Throws the reason of the signal where nobody waits for it any more. */
export function draw(card: Card, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const drawn = last.then(() => drawNow(card, signal));
  last = drawn.catch(() => {});
  return drawn;
}

async function drawNow(card: Card, signal: AbortSignal | undefined): Promise<Uint8Array> {
  signal?.throwIfAborted();
  clearTimeout(idle);
  thread ??= new Worker(threadModule('./card-thread', import.meta.url));
  // The gateway ends without waiting for it.
  thread.unref();
  try {
    const answer = once(thread, 'message');
    thread.postMessage(card);
    const messages: readonly unknown[] = await answer;
    const png = messages[0];
    if (!(png instanceof Uint8Array)) throw new Error('The thread has drawn nothing');
    return png;
  } catch (error) {
    thread = undefined;
    throw error;
  } finally {
    idle = setTimeout(() => {
      void thread?.terminate();
      thread = undefined;
    }, IDLE_MS).unref();
  }
}
