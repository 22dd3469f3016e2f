import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Passes on what each thread of a gateway says to all others, in order. Does not keep the process alive. A
 * `BroadcastChannel` would load Node's HTTP client for its events: 7 MB in a thread that has nothing else.
 */
export class ThreadHub implements Disposable {
  readonly #ports = new Set<MessagePort>();

  /** To be given to one thread, or used here. */
  connect(): MessagePort {
    const { port1: own, port2: other } = new MessageChannel();
    this.#ports.add(own);
    own.on('message', (message: unknown) => {
      for (const port of this.#ports) if (port !== own) port.postMessage(message);
    });
    own.once('close', () => this.#ports.delete(own));
    own.unref();
    return other;
  }

  [Symbol.dispose](): void {
    for (const port of this.#ports) port.close();
  }
}
