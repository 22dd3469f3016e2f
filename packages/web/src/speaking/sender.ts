/**
 * Sends what is in the outbox, until it is durable. Of all pages that are open, one sends. Sending twice
 * would do no harm: an entry keeps its idempotency key.
 */
import type { FormProblem } from '../page-data.ts';
import {
  announce,
  onOutboxChange,
  outboxItems,
  updateItem,
  type Outcome,
  type OutboxItem,
  type StoredEntry,
} from './outbox.ts';

const LOCK = 'open-presence.outbox';
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/** The last attempt failed, and another one may succeed. */
interface Failure {
  readonly state: 'failed';
  /** What the gateway asks to wait. */
  readonly retryAfterMs: number;
}

let isRunning = false;
let isRequested = false;

/** Sends until nothing is waiting. */
export async function startSender(): Promise<void> {
  isRequested = true;
  if (isRunning) return;
  isRunning = true;
  try {
    while (isRequested) {
      isRequested = false;
      // Only pages in a secure context have locks.
      const { locks } = navigator as { readonly locks?: LockManager };
      await (locks === undefined ? sendAll() : locks.request(LOCK, sendAll));
    }
  } finally {
    isRunning = false;
  }
}

async function sendAll(): Promise<void> {
  for (;;) {
    using change = nextChange();
    const waiting = (await outboxItems()).filter(({ outcome }) => outcome === undefined);
    if (waiting.length === 0) return;
    const due = waiting.find(({ notBefore }) => notBefore <= Date.now());
    if (due !== undefined) await sendItem(due);
    else await change.until(Math.min(...waiting.map(({ notBefore }) => notBefore)));
  }
}

async function sendItem(item: OutboxItem): Promise<void> {
  announce({ sending: item.key });
  const outcome = await attempt(item);
  if (outcome.state !== 'failed') return await updateItem({ ...item, outcome });
  const attempts = item.attempts + 1;
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** item.attempts);
  // Spread, so that not all pages come at once when the gateway is back.
  const pause = Math.max(outcome.retryAfterMs, delay / 2) + (Math.random() * delay) / 2;
  await updateItem({ ...item, attempts, notBefore: Date.now() + pause });
}

async function attempt({ path, key, kind, locale, body }: OutboxItem): Promise<Outcome | Failure> {
  try {
    const answer = await fetch(path, {
      method: 'POST',
      body,
      headers: {
        Accept: 'application/json',
        'Accept-Language': locale,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
        // The answer to a first contact has the companions.
        ...(kind === 'resonance' ? {} : { Prefer: 'return=minimal' }),
      },
    });
    if (answer.status === 201) return await storedOutcome(answer);
    if (answer.status >= 400 && answer.status < 500) {
      return { state: 'refused', problem: await problemOf(answer) };
    }
    return { state: 'failed', retryAfterMs: retryAfter(answer) };
  } catch {
    // Broken off, or no JSON: a proxy may have answered.
    return { state: 'failed', retryAfterMs: 0 };
  }
}

async function storedOutcome(answer: Response): Promise<Outcome> {
  const { id, seq, room, welcome, companions, next } = (await answer.json()) as StoredEntry;
  const contact =
    welcome === undefined || companions === undefined || next === undefined
      ? {}
      : {
          welcome,
          companions: companions.map((companion) => ({
            id: companion.id,
            ...(companion.ai_identity === undefined ? {} : { ai_identity: companion.ai_identity }),
            ...(companion.seeking === undefined ? {} : { seeking: companion.seeking }),
          })),
          next,
        };
  return { state: 'stored', at: Date.now(), entry: { id, seq, room, ...contact } };
}

async function problemOf(answer: Response): Promise<FormProblem> {
  const title = `${answer.status} ${answer.statusText}`;
  try {
    const { detail, ...problem } = (await answer.json()) as FormProblem;
    return { ...problem, detail: typeof detail === 'string' ? detail : title };
  } catch {
    return { title, detail: title };
  }
}

function retryAfter({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after'));
  return Number.isFinite(seconds) ? seconds * 1000 : 0;
}

/** Listens from now on for what may make an item due. */
function nextChange(): Disposable & { until(time: number): Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = onOutboxChange(() => resolve());
  return {
    async until(time) {
      const timer = setTimeout(resolve, time - Date.now());
      await promise;
      clearTimeout(timer);
    },
    [Symbol.dispose]: stop,
  };
}

async function retryNow(): Promise<void> {
  for (const item of await outboxItems()) {
    if (item.outcome === undefined && item.attempts > 0)
      await updateItem({ ...item, notBefore: 0 });
  }
  await startSender();
}

/** Sends what earlier pages have left, and tries again when the connection comes back. */
export function keepSending(): void {
  // Without a database nothing is waiting.
  const retry = (): void => void retryNow().catch(() => {});
  addEventListener('online', retry);
  retry();
}
