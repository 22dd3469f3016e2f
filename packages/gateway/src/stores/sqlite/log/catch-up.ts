/** Asks the thread that takes a cluster's appends whether this copy has all that was acknowledged. */
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

/** Sent by a thread that reads. */
export interface CatchUpRequest {
  readonly catchUp: number;
}

export interface CatchUpResponse {
  readonly caughtUp: number;
  /** False where it cannot be known now. */
  readonly isKnown: boolean;
}

const UNKNOWN =
  'Cannot answer this request now: it names an entry that this gateway does not have, and the gateway cannot learn now whether another gateway of its cluster has stored it. Try again in a moment, or at another gateway.';

export class CatchUpClient {
  readonly #port: MessagePort;
  readonly #pending = new Map<number, PromiseWithResolvers<void>>();
  #last = 0;

  /** `port`: may be used for other messages too. */
  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: CatchUpResponse | object) => {
      if (!('caughtUp' in message)) return;
      const { caughtUp, isKnown } = message;
      const pending = this.#pending.get(caughtUp);
      this.#pending.delete(caughtUp);
      if (isKnown) pending?.resolve();
      else pending?.reject(new GatewayError('unavailable', UNKNOWN));
    });
  }

  /** See `Log.caughtUp`. */
  async caughtUp(): Promise<void> {
    const pending = Promise.withResolvers<void>();
    this.#last += 1;
    this.#pending.set(this.#last, pending);
    this.#port.postMessage({ catchUp: this.#last } satisfies CatchUpRequest);
    await pending.promise;
  }

  /** To be called before the port is closed. */
  close(): void {
    for (const { reject } of this.#pending.values())
      reject(new GatewayError('unavailable', UNKNOWN));
    this.#pending.clear();
  }
}
