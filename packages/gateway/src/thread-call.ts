/** Calls from thread to thread: a request over a port, and one response. The port may carry other messages too. */

/** What a thread answers: an interface of methods, each of one request. */
type Methods<Calls> = Record<keyof Calls, (request: never) => unknown>;

type RequestOf<Calls extends Methods<Calls>, Name extends keyof Calls> = Parameters<Calls[Name]>[0];

/** A call as it is sent. */
export type ThreadCall<Calls extends Methods<Calls>> = {
  [Name in keyof Calls]: {
    readonly call: Name;
    readonly number: number;
    readonly request: RequestOf<Calls, Name>;
  };
}[keyof Calls];

interface ThreadReply {
  readonly reply: number;
  readonly response: unknown;
}

/** Leads to the thread that answers. */
export interface CallPort<Calls extends Methods<Calls>> {
  postMessage(call: ThreadCall<Calls>, transfer: ArrayBuffer[]): void;
  on(event: 'message', listener: (message: ThreadReply | object) => void): unknown;
}

export class ThreadCaller<Calls extends Methods<Calls>> {
  readonly #port: CallPort<Calls>;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  constructor(port: CallPort<Calls>) {
    this.#port = port;
    port.on('message', (message) => {
      if (!('reply' in message)) return;
      const { reply, response } = message;
      this.#pending.get(reply)?.resolve(response);
      this.#pending.delete(reply);
    });
  }

  /** Undefined where the caller is closed first. */
  async call<Name extends keyof Calls>(
    name: Name,
    request: RequestOf<Calls, Name>,
    transfer: ArrayBuffer[] = [],
  ): Promise<Awaited<ReturnType<Calls[Name]>> | undefined> {
    const pending = Promise.withResolvers<unknown>();
    this.#last += 1;
    this.#pending.set(this.#last, pending);
    this.#port.postMessage({ call: name, number: this.#last, request }, transfer);
    return (await pending.promise) as Awaited<ReturnType<Calls[Name]>> | undefined;
  }

  /** Nothing is answered any more. To be called before the port is closed. */
  close(): void {
    for (const { resolve } of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
  }
}

/** Leads to the thread that has called. */
export interface ReplyPort {
  postMessage(reply: ThreadReply, transfer: ArrayBuffer[]): void;
}

/** Answers a call by the method of its name. `transfer`: what of the response is handed over. */
export async function answerCall<Calls extends Methods<Calls>>(
  port: ReplyPort,
  { call, number, request }: ThreadCall<Calls>,
  methods: Calls,
  transfer: (response: unknown) => ArrayBuffer[] = () => [],
): Promise<void> {
  const response = await methods[call](request);
  port.postMessage({ reply: number, response }, transfer(response));
}
