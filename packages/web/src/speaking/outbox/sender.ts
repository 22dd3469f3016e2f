/**
 * Sends each entry in the outbox until the gateway has stored or refused it. Of all open pages, one sends at
 * a time. Sending twice would do no harm: an entry keeps its idempotency key.
 */
import type { PresenceError } from '@open-presence/client';

import {
  addToOutbox,
  newIdempotencyKey,
  onOutboxChange,
  outboxItems,
  updateItem,
  type Outcome,
  type OutboxItem,
  type StoredEntry,
  type Written,
} from './outbox.ts';
import { inTurn } from './tab.ts';

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** An entry that would wait longer was tried before the clock was set back. */
const LONGEST_PAUSE_MS = 10 * 60_000;

/** The last attempt failed, and another one may succeed. */
interface Failure {
  readonly state: 'failed';
  /** How long the gateway asks to wait. */
  readonly retryAfterMs: number;
  readonly reason: string | undefined;
}

/** Loads the client early, so that it is there when the connection is not. */
export function prepareSender(): void {
  import('@open-presence/client').catch(() => {});
}

type Answer = Outcome | Failure | { readonly state: 'waiting' };

/**
 * Puts an entry into the outbox and sends it. Without `sent`, its key in the outbox, this device could not store it, and
 * it was sent at once, with the key `key`.
 */
export async function sendNow(
  written: Written,
  key: string = newIdempotencyKey(),
): Promise<Answer & { readonly sent?: string }> {
  let sent: string;
  try {
    sent = await addToOutbox(written);
  } catch {
    return await attempt({ ...written, key });
  }
  const answered = firstAnswer(sent);
  void startSender();
  return { ...(await answered), sent };
}

/**
 * Waits for the answer to an item. Gives up if the device is offline or sending fails: the sender tries again
 * by itself.
 */
async function firstAnswer(key: string): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const look = async (): Promise<void> => {
    const item = (await outboxItems()).find((candidate) => candidate.key === key);
    if (item?.outcome !== undefined) resolve(item.outcome);
    else if (item !== undefined && item.attempts > 0) resolve({ state: 'waiting' });
  };
  const stop = onOutboxChange(() => void look());
  if (!navigator.onLine) resolve({ state: 'waiting' });
  return await promise.finally(stop);
}

/** Sends until nothing is waiting. Waits out of its turn: another page may be able to send before. */
async function startSender(): Promise<void> {
  for (;;) {
    using change = nextChange();
    const due = await inTurn('outbox', sendDue);
    if (due === undefined) return;
    await change.until(due);
  }
}

/** Returns when the next entry may be sent, or undefined if none is waiting. */
async function sendDue(): Promise<number | undefined> {
  for (;;) {
    const next = (await outboxItems()).find(({ outcome }) => outcome === undefined);
    // Later entries wait as well, so that all arrive in the order in which they were written.
    if (next === undefined) return undefined;
    const pause = next.notBefore - Date.now();
    if (pause > 0 && pause <= LONGEST_PAUSE_MS) return next.notBefore;
    await sendItem(next);
  }
}

async function sendItem(item: OutboxItem): Promise<void> {
  const outcome = await attempt(item);
  if (outcome.state !== 'failed') return await updateItem({ ...item, outcome });
  const attempts = item.attempts + 1;
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** item.attempts);
  // Random, so that not all pages come at once when the gateway is back.
  const asked = Math.max(outcome.retryAfterMs, delay / 2) + (Math.random() * delay) / 2;
  const pause = Math.min(LONGEST_PAUSE_MS, asked);
  const { reason } = outcome;
  await updateItem({ ...item, attempts, notBefore: Date.now() + pause, reason });
}

async function attempt({
  key,
  kind,
  locale,
  body,
}: Pick<OutboxItem, 'body' | 'key' | 'kind' | 'locale'>): Promise<Outcome | Failure> {
  try {
    // Loaded on demand: a page that is only read needs no client.
    const { Gateway } = await import('@open-presence/client');
    const gateway = new Gateway(location.origin, { locale });
    const entry = await gateway.sayJson(kind, body, { idempotencyKey: key, retry: false });
    return { state: 'stored', at: Date.now(), entry: storedEntry(entry) };
  } catch (error) {
    // Anything but a refusal may pass: there was no connection, or a proxy answered.
    const {
      status = 0,
      problem,
      message,
      retryAfterMs = 0,
      isTemporary,
    } = error as Partial<PresenceError>;
    if (isTemporary === true || status < 400 || status >= 500)
      return { state: 'failed', retryAfterMs, reason: problem?.detail };
    return { state: 'refused', problem: problem ?? { detail: message ?? String(status) } };
  }
}

/** Leaves out the visitor's words: this device has them in the outbox. */
function storedEntry({ id, seq, room, welcome, companions, next }: StoredEntry): StoredEntry {
  if (welcome === undefined || companions === undefined || next === undefined)
    return { id, seq, room };
  const shown = companions.map(({ id, ai_identity, seeking }) => ({ id, ai_identity, seeking }));
  return { id, seq, room, welcome, companions: shown, next };
}

/** Listens from now on for changes of the outbox, which may make an item due. */
function nextChange(): Disposable & { until(time: number): Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = onOutboxChange(resolve);
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
  // Without a database, nothing is waiting.
  const retry = (): void => void retryNow().catch(() => {});
  addEventListener('online', retry);
  retry();
}
