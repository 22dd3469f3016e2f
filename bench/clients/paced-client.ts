/** A client that sends requests at a fixed pace, however long the responses take. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { gardenEntries } from '../data/garden-entries.ts';
import { sendRequest } from './http.ts';

export interface PacedResult {
  /** Of each request, in ms. */
  readonly latencies: readonly number[];
  readonly posted: number;
  /** How late this process itself was at most, in ms: the precision of the latencies. */
  readonly ownDelay: number;
}

/** Returns the next request: a path and, for a POST, a body. */
export type RequestSource = () => { readonly path: string; readonly body?: string };

/** Sends requests until stopped, then waits for the pending responses. */
async function sendPaced(
  url: string,
  plan: { readonly everyMs: number; readonly next: RequestSource; readonly stop: AbortSignal },
): Promise<PacedResult> {
  const agent = new Agent({ keepAlive: true });
  const latencies: number[] = [];
  const unfinished = new Set<Promise<void>>();
  let [posted, ownDelay, failure] = [0, 0, ''];
  const send = async (): Promise<void> => {
    const { path, body } = plan.next();
    const startedAt = performance.now();
    const { status, text } = await sendRequest(url + path, {
      agent,
      ...(body !== undefined && { body }),
    });
    latencies.push(performance.now() - startedAt);
    if (body !== undefined) posted += 1;
    if (status >= 300) failure ||= `${status} ${text.slice(0, 500)}`;
  };
  let due = performance.now();
  while (!plan.stop.aborted) {
    ownDelay = Math.max(ownDelay, performance.now() - due);
    const pending: Promise<void> = send()
      .catch((error: unknown) => {
        failure ||= String(error);
      })
      .finally(() => unfinished.delete(pending));
    unfinished.add(pending);
    due += plan.everyMs;
    await sleep(Math.max(0, due - performance.now()));
  }
  await Promise.all(unfinished);
  agent.destroy();
  if (failure !== '') throw new Error(`A request to ${url} failed: ${failure}`);
  return { latencies, posted, ownDelay };
}

/** Sends requests for as long as the work takes. */
export async function sendDuring<T>(
  url: string,
  plan: { readonly everyMs: number; readonly next: RequestSource },
  work: () => Promise<T>,
): Promise<{ readonly requests: PacedResult; readonly result: T }> {
  const stop = new AbortController();
  const sending = sendPaced(url, { ...plan, stop: stop.signal });
  // It is awaited below; the work may fail first.
  sending.catch(() => undefined);
  try {
    const result = await work();
    stop.abort();
    return { requests: await sending, result };
  } finally {
    stop.abort();
  }
}

/** POSTs of garden entries. */
export function gardenPosts(path: string): RequestSource {
  const next = gardenEntries(13);
  return () => ({ path, body: JSON.stringify(next()) });
}
