import { PresenceError } from './presence-error.ts';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** `setTimeout` fires at once for more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A stream sends something every 15 seconds. One that is silent for so long is lost. */
export const SILENCE_MS = 60_000;

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
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** To be called after a success: the next pause is short again. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Resolves when it is time to try again. Throws an error that will not pass, and the reason of an abort. */
  async pause(error: unknown): Promise<void> {
    const { signal, onRetry, maxRetries = Number.POSITIVE_INFINITY } = this.#options;
    signal?.throwIfAborted();
    if (!(error instanceof PresenceError) || !error.isTemporary) throw error;
    if (this.#attempts >= maxRetries) throw error;
    const longest = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    const asked = Math.min(error.retryAfterMs ?? 0, LONGEST_TIMER_MS);
    const delay = Math.max(asked, longest * (0.5 + Math.random() / 2));
    onRetry?.(error, delay);
    // The listener may have aborted it.
    signal?.throwIfAborted();
    await sleep(delay, signal);
  }
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const end = new AbortController();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener('abort', stop, { signal: end.signal });
  });
  end.abort();
  signal?.throwIfAborted();
}

/** Aborts a request after some time, or when the caller does. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #end = new AbortController();
  readonly #ms: number;
  readonly #reason: () => PresenceError;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined, ms: number, reason: () => PresenceError) {
    const { signal } = this.#end;
    this.signal = outer === undefined ? signal : AbortSignal.any([outer, signal]);
    this.#ms = Math.min(ms, LONGEST_TIMER_MS);
    this.#reason = reason;
    this.restart();
  }

  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#end.abort(this.#reason()), this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the request too. */
  end(): void {
    this.stop();
    this.#end.abort();
  }
}
