import { PresenceError } from './presence-error.ts';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** `setTimeout` fires at once for more. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Told before each pause. `delayMs`: until the next attempt. */
export type RetryListener = (error: PresenceError, delayMs: number) => void;

interface BackoffOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: RetryListener | undefined;
  /** One after another, without a success between them. Without end by default. */
  readonly maxRetries?: number | undefined;
}

/**
 * Pauses between attempts: twice as long each time up to half a minute; a random part of each is
 * taken, so that not all clients come at once when a gateway is back. Never shorter than the gateway
 * asked for.
 */
export class Backoff {
  readonly #signal: AbortSignal | undefined;
  readonly #onRetry: RetryListener | undefined;
  readonly #maxRetries: number;
  #attempts = 0;

  constructor({ signal, onRetry, maxRetries = Number.POSITIVE_INFINITY }: BackoffOptions) {
    this.#signal = signal;
    this.#onRetry = onRetry;
    this.#maxRetries = maxRetries;
  }

  /** To be called after a success: the next pause is short again. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Resolves when it is time to try again. Throws an error that will not pass, and the reason of an abort. */
  async pause(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!(error instanceof PresenceError) || !error.isTemporary) throw error;
    if (this.#attempts >= this.#maxRetries) throw error;
    const longest = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    const asked = Math.min(error.retryAfterMs ?? 0, LONGEST_TIMER_MS);
    const delay = Math.max(asked, longest * (0.5 + Math.random() / 2));
    this.#onRetry?.(error, delay);
    // The listener may have aborted it.
    this.#signal?.throwIfAborted();
    await sleep(delay, this.#signal);
  }
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let stop = (): void => {};
  const waiting = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const abort = (): void => reject(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    stop = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
  });
  await waiting.finally(stop);
}
