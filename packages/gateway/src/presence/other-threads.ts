import { BroadcastChannel } from 'node:worker_threads';

/** A visitor who has named itself. */
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

/** A visitor named by requests, in the room of the last one. Times are those of the steady clock. */
export interface RequestPresence extends Visitor {
  readonly since: number;
  readonly lastSeen: number;
}

export type PresenceMessage =
  /** From a new thread: asks the others for their state. */
  | { readonly type: 'join' }
  | { readonly type: 'stream opened' | 'stream closed'; readonly stream: StreamPresence }
  | { readonly type: 'request'; readonly request: RequestPresence }
  /** The thread ends, and its streams with it. */
  | { readonly type: 'leave'; readonly thread: string };

/**
 * Broadcasts to the other threads of a gateway. Messages of one thread arrive in order; those that
 * answer a `join` may repeat earlier ones. Does not keep the process alive.
 */
export class OtherThreads {
  #channel: BroadcastChannel | undefined;
  #unsent: PresenceMessage[] = [];

  /** Without a name there are no other threads. */
  constructor(name: string | undefined, onMessage: (message: PresenceMessage) => void) {
    if (name === undefined) return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: { readonly data: readonly PresenceMessage[] }) =>
      data.forEach(onMessage);
    this.#channel.unref();
  }

  /** Messages of one turn of the event loop are sent together. */
  send(message: PresenceMessage): void {
    if (this.#channel === undefined) return;
    if (this.#unsent.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** Sends the last message. */
  close(message: PresenceMessage): void {
    this.send(message);
    this.#flush();
    this.#channel?.close();
    this.#channel = undefined;
  }

  #flush(): void {
    if (this.#unsent.length > 0) this.#channel?.postMessage(this.#unsent);
    this.#unsent = [];
  }
}
