/** Visitors who come at their own pace, whatever the gateway does meanwhile. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { gardener } from './garden.ts';
import { ask } from './http.ts';

export interface Visit {
  /** How long each answer took, in ms. */
  readonly latencies: readonly number[];
  readonly posted: number;
  /** The longest that this process itself was late, in ms: no answer is timed better than that. */
  readonly ownDelay: number;
}

/** What to ask next: a path and, for a POST, a body. */
export type Question = () => { readonly path: string; readonly body?: string };

/** Asks every so often, until told to stop, then waits for the answers that are due. */
async function visit(
  url: string,
  plan: { readonly everyMs: number; readonly next: Question; readonly stop: AbortSignal },
): Promise<Visit> {
  const agent = new Agent({ keepAlive: true });
  const latencies: number[] = [];
  const waiting = new Set<Promise<void>>();
  let [posted, ownDelay, failure] = [0, 0, ''];
  const once = async (): Promise<void> => {
    const { path, body } = plan.next();
    const began = performance.now();
    const { status, text } = await ask(url + path, { agent, ...(body !== undefined && { body }) });
    latencies.push(performance.now() - began);
    if (body !== undefined) posted += 1;
    if (status >= 300) failure ||= `${status} ${text.slice(0, 500)}`;
  };
  let due = performance.now();
  while (!plan.stop.aborted) {
    ownDelay = Math.max(ownDelay, performance.now() - due);
    const asked: Promise<void> = once()
      .catch((error: unknown) => {
        failure ||= String(error);
      })
      .finally(() => waiting.delete(asked));
    waiting.add(asked);
    due += plan.everyMs;
    await sleep(Math.max(0, due - performance.now()));
  }
  await Promise.all(waiting);
  agent.destroy();
  if (failure !== '') throw new Error(`Cannot visit ${url}: ${failure}`);
  return { latencies, posted, ownDelay };
}

/** Runs a visit beside a piece of work and ends it with that work. */
export async function visitDuring<T>(
  url: string,
  plan: { readonly everyMs: number; readonly next: Question },
  work: () => Promise<T>,
): Promise<{ readonly visit: Visit; readonly result: T }> {
  const stop = new AbortController();
  const visiting = visit(url, { ...plan, stop: stop.signal });
  // Awaited below; work may fail first.
  visiting.catch(() => undefined);
  try {
    const result = await work();
    stop.abort();
    return { visit: await visiting, result };
  } finally {
    stop.abort();
  }
}

/** Asks for garden entries to be kept. */
export function posts(path: string): Question {
  const next = gardener(13);
  return () => ({ path, body: JSON.stringify(next()) });
}
