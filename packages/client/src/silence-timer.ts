import type { PresenceError } from './presence-error.ts';

/** A stream sends something every 15 seconds. One that is silent for so long is lost. */
const SILENCE_MS = 60_000;

/** Aborts a request that is silent for too long, or that the caller aborts. */
export class SilenceTimer {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #reason: () => PresenceError;
  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined, reason: () => PresenceError) {
    outer?.throwIfAborted();
    this.#outer = outer;
    this.#reason = reason;
    outer?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(this.#reason()), SILENCE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the request too. */
  end(): void {
    this.stop();
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }
}
