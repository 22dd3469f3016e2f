/** What the threads of one gateway tell each other of who is here. */
import { randomUUID } from 'node:crypto';
import { BroadcastChannel } from 'node:worker_threads';

/** A visitor named by one event stream that is open. */
export interface StreamPresence {
  readonly identity: string;
  readonly room: string | undefined;
  readonly since: number;
  /** Among the streams of its thread. */
  readonly number: number;
}

/** A visitor named by requests. */
export interface RequestPresence {
  readonly identity: string;
  /** That of the last request. */
  readonly room: string | undefined;
  readonly since: number;
  readonly lastSeen: number;
}

export type PresenceMessage =
  /** A new thread asks for what the others have. */
  | { readonly what: 'who' }
  | { readonly what: 'entered'; readonly stream: StreamPresence }
  | { readonly what: 'left'; readonly stream: StreamPresence }
  | { readonly what: 'saw'; readonly seen: RequestPresence }
  /** The thread ends, and its streams with it. */
  | { readonly what: 'over' };

interface Post {
  readonly from: string;
  readonly news: readonly PresenceMessage[];
}

/**
 * The other threads. What one of them tells is heard in the order in which it was told, and more
 * than once if somebody asked. Keeps no process alive.
 */
export class OtherThreads implements Disposable {
  readonly #me = randomUUID();
  #channel: BroadcastChannel | undefined;
  #untold: PresenceMessage[] = [];

  /** Without a name there are no others. */
  constructor(name: string | undefined, hear: (from: string, news: PresenceMessage) => void) {
    if (name === undefined) return;
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }: { readonly data: unknown }) => {
      if (isPost(data)) for (const news of data.news) hear(data.from, news);
    };
    channel.unref();
    this.#channel = channel;
  }

  /** What is told in one turn of the event loop travels together. */
  tell(news: PresenceMessage): void {
    if (this.#channel !== undefined && this.#untold.push(news) === 1) {
      setImmediate(() => this.#send());
    }
  }

  [Symbol.dispose](): void {
    this.tell({ what: 'over' });
    this.#send();
    this.#channel?.close();
    this.#channel = undefined;
  }

  #send(): void {
    const news = this.#untold;
    this.#untold = [];
    if (news.length === 0) return;
    const post: Post = { from: this.#me, news };
    this.#channel?.postMessage(post);
  }
}

function isPost(data: unknown): data is Post {
  return typeof data === 'object' && data !== null && 'from' in data && 'news' in data;
}
