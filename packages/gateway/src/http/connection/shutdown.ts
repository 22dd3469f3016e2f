import { GatewayError } from '@open-presence/protocol';

/** Ends what waits for new entries, and what searches, when the gateway stops. */
export class Shutdown {
  readonly #controller = new AbortController();
  /** A set, because the listeners of a signal form a list, which each new one walks. */
  readonly #waiting = new Set<AbortController>();

  /** Aborted when the gateway stops. For few listeners; requests that wait call `add`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the controller on shutdown, at once if that has started, until it is removed. */
  add(controller: AbortController): void {
    this.#waiting.add(controller);
    if (this.signal.aborted) controller.abort(this.signal.reason);
  }

  remove(controller: AbortController): void {
    this.#waiting.delete(controller);
  }

  start(): void {
    const reason = new GatewayError(
      'unavailable',
      'Cannot answer this request: the gateway is stopping. Try again in a moment.',
    );
    this.#controller.abort(reason);
    for (const controller of this.#waiting) controller.abort(reason);
  }
}
