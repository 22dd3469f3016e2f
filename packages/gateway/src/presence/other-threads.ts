import type { MessagePort } from 'node:worker_threads';

import type { HiddenNames } from './hidden-names.ts';

export interface Visitor {
  readonly identity: string;
  /** Slug of an existing room. */
  readonly room: string | undefined;
}

/** A visitor named by an open event stream. Times are those of the steady clock. */
export interface StreamPresence extends Visitor {
  readonly since: number;
  /** The id of its thread, and a number. */
  readonly id: string;
}

/** A visitor named by requests, in the room of the last one. Times are by the steady clock. */
export interface RequestPresence extends Visitor {
  readonly since: number;
  readonly lastSeen: number;
}

export type PresenceMessage =
  /** From a new thread: asks the others for their state. */
  | { readonly type: 'join' }
  | { readonly type: 'stream opened' | 'stream closed'; readonly stream: StreamPresence }
  | { readonly type: 'request'; readonly request: RequestPresence }
  | { readonly type: 'hidden'; readonly hidden: HiddenNames }
  /** The thread ends, and its streams with it. */
  | { readonly type: 'leave'; readonly thread: string };

/** Messages of one thread arrive in order; answers to a `join` may repeat some. Does not keep the process alive. */
export class OtherThreads {
  #port: MessagePort | undefined;
  #unsent: PresenceMessage[] = [];

  /** `port`: of the gateway's hub. Without one there are no other threads. */
  constructor(port: MessagePort | undefined, onMessage: (message: PresenceMessage) => void) {
    this.#port = port;
    port?.on('message', (messages: readonly PresenceMessage[]) => messages.forEach(onMessage));
    port?.unref();
  }

  /** Messages of one turn of the event loop are sent together. */
  send(message: PresenceMessage): void {
    if (this.#port === undefined) return;
    if (this.#unsent.push(message) === 1) setImmediate(() => this.#flush());
  }

  close(message: PresenceMessage): void {
    this.send(message);
    this.#flush();
    this.#port?.close();
    this.#port = undefined;
  }

  #flush(): void {
    if (this.#unsent.length > 0) this.#port?.postMessage(this.#unsent);
    this.#unsent = [];
  }
}
