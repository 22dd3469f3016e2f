import { randomUUID } from 'node:crypto';
import { BroadcastChannel } from 'node:worker_threads';

/** A visitor named by an open event stream. Times are ms since 1970. */
export interface StreamPresence {
  readonly identity: string;
  readonly room: string | undefined;
  readonly since: number;
  /** Unique among the streams of its thread. */
  readonly number: number;
}

/** A visitor named by requests. */
export interface RequestPresence {
  readonly identity: string;
  /** The room of the last request. */
  readonly room: string | undefined;
  readonly since: number;
  readonly lastSeen: number;
}

export type PresenceMessage =
  /** From a new thread: asks the others for their state. */
  | { readonly type: 'join' }
  | { readonly type: 'stream opened'; readonly stream: StreamPresence }
  | { readonly type: 'stream closed'; readonly stream: StreamPresence }
  | { readonly type: 'request'; readonly request: RequestPresence }
  /** The thread ends, and its streams with it. */
  | { readonly type: 'leave' };

interface Envelope {
  readonly from: string;
  readonly messages: readonly PresenceMessage[];
}

/**
 * Broadcasts to the other threads of a gateway. Messages of one thread arrive in order; those that
 * answer a `join` may repeat earlier ones. Does not keep the process alive.
 */
export class OtherThreads implements Disposable {
  readonly #id = randomUUID();
  #channel: BroadcastChannel | undefined;
  #unsent: PresenceMessage[] = [];

  /** Without a name there are no other threads. */
  constructor(
    name: string | undefined,
    onMessage: (from: string, message: PresenceMessage) => void,
  ) {
    if (name === undefined) return;
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }: { readonly data: unknown }) => {
      if (!isEnvelope(data)) return;
      for (const message of data.messages) onMessage(data.from, message);
    };
    channel.unref();
    this.#channel = channel;
  }

  /** Messages of one turn of the event loop are sent together. */
  send(message: PresenceMessage): void {
    if (this.#channel !== undefined && this.#unsent.push(message) === 1) {
      setImmediate(() => this.#flush());
    }
  }

  [Symbol.dispose](): void {
    this.send({ type: 'leave' });
    this.#flush();
    this.#channel?.close();
    this.#channel = undefined;
  }

  #flush(): void {
    const messages = this.#unsent;
    this.#unsent = [];
    if (messages.length === 0) return;
    const envelope: Envelope = { from: this.#id, messages };
    this.#channel?.postMessage(envelope);
  }
}

function isEnvelope(data: unknown): data is Envelope {
  return typeof data === 'object' && data !== null && 'from' in data && 'messages' in data;
}
