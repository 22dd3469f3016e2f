/**
 * Shares who is present with the other gateways of a cluster: as one more thread of its own gateway,
 * it passes on what the threads tell one another, and what those of other gateways do.
 *
 * Knows no network: messages go over a transport that may lose them, though not reorder those of one
 * gateway. Upholds:
 * - frames are numbered: who misses one drops the streams of that gateway and requests its state.
 * - what a gateway has told is a lease: its streams go when nothing comes from it for a while.
 * - times are those of the receiver's steady clock, however the clocks of the machines differ.
 */
import { randomUUID } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';

import type { GatewayTransport } from '../log/replica.ts';
import type { PresenceMessage } from './other-threads.ts';
import { steadyNow } from './steady-clock.ts';

/** A message is an array of presence messages as JSON, in one frame or, if it is long, several. */
interface FrameHeader {
  readonly gateway: string;
  readonly number: number;
  /** On the steady clock of the sender. */
  readonly time: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

interface OtherGateway {
  number: number;
  lastHeard: number;
  /** Frames of a message whose last one has not come. Undefined if the first one was missed. */
  parts: Uint8Array[] | undefined;
}

const FRAME_BYTES = 256 * 1024;
const LEASE_MS = 15_000;
/** Messages that keep a lease alive, in each lease. */
const BEATS_PER_LEASE = 5;
const NEWLINE = 0x0a;

export class OtherGateways implements Disposable {
  readonly #id = randomUUID();
  readonly #transport: GatewayTransport;
  readonly #port: MessagePort;
  readonly #gateways = new Map<string, OtherGateway>();
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;
  #number = 0;
  #isStateWanted = true;

  /** `port`: of the hub of this gateway's threads. */
  constructor(port: MessagePort, transport: GatewayTransport, leaseMs: number = LEASE_MS) {
    this.#transport = transport;
    this.#leaseMs = leaseMs;
    this.#port = port;
    port.on('message', (messages: readonly PresenceMessage[]) => this.#send(messages));
    port.unref();
    transport.onFrame = (frame) => this.#receive(frame);
    this.#timer = setInterval(() => this.#beat(), leaseMs / BEATS_PER_LEASE).unref();
    this.#beat();
  }

  /** The streams of the other gateways go, and this one's go there. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#send([{ type: 'leave', thread: '' }]);
    this.#transport.onFrame = () => {};
    for (const gateway of this.#gateways.keys()) this.#drop(gateway);
    this.#port.close();
  }

  /** Renews the own lease, ends expired ones of others, and asks for their state if some of it was missed. */
  #beat(): void {
    for (const [id, { lastHeard }] of this.#gateways) {
      if (lastHeard + this.#leaseMs <= steadyNow()) this.#drop(id);
    }
    this.#send(this.#isStateWanted ? [{ type: 'join' }] : []);
    this.#isStateWanted = false;
  }

  #send(messages: readonly PresenceMessage[]): void {
    const text = Buffer.from(JSON.stringify(messages));
    for (let at = 0; at < text.length; at += FRAME_BYTES) {
      this.#number += 1;
      const header: FrameHeader = {
        gateway: this.#id,
        number: this.#number,
        time: steadyNow(),
        isFirst: at === 0,
        isLast: at + FRAME_BYTES >= text.length,
      };
      const line = Buffer.from(`${JSON.stringify(header)}\n`);
      this.#transport.send(Buffer.concat([line, text.subarray(at, at + FRAME_BYTES)]));
    }
  }

  #receive(frame: Uint8Array): void {
    const end = frame.indexOf(NEWLINE);
    const header = JSON.parse(textOf(frame.subarray(0, end))) as FrameHeader;
    if (header.gateway === this.#id) return;
    const sender = this.#gatewayOf(header);
    sender.number = header.number;
    sender.lastHeard = steadyNow();
    if (header.isFirst) sender.parts = [];
    sender.parts?.push(frame.slice(end + 1));
    if (!header.isLast || sender.parts === undefined) return;
    const messages = JSON.parse(textOf(Buffer.concat(sender.parts))) as readonly PresenceMessage[];
    sender.parts = undefined;
    const delay = steadyNow() - header.time;
    if (messages.length > 0)
      this.#port.postMessage(messages.map((message) => localize(message, header, delay)));
  }

  /** The sender, without what it told before where a frame was missed. */
  #gatewayOf({ gateway, number }: FrameHeader): OtherGateway {
    const known = this.#gateways.get(gateway);
    if (known !== undefined && known.number + 1 === number) return known;
    if (known !== undefined) this.#drop(gateway);
    if (number > 1) this.#isStateWanted = true;
    const sender = { number, lastHeard: 0, parts: undefined };
    this.#gateways.set(gateway, sender);
    return sender;
  }

  #drop(gateway: string): void {
    this.#gateways.delete(gateway);
    this.#port.postMessage([{ type: 'leave', thread: gateway } satisfies PresenceMessage]);
  }
}

/** Puts the gateway's id before the ids of its streams and threads, so that all of them can be dropped. */
function localize(
  message: PresenceMessage,
  { gateway }: FrameHeader,
  delay: number,
): PresenceMessage {
  switch (message.type) {
    case 'join':
    case 'hidden':
      return message;
    case 'leave':
      return { ...message, thread: gateway + message.thread };
    case 'request': {
      const { since, lastSeen } = message.request;
      const request = { ...message.request, since: since + delay, lastSeen: lastSeen + delay };
      return { ...message, request };
    }
    case 'stream opened':
    case 'stream closed': {
      const { id, since } = message.stream;
      return {
        ...message,
        stream: { ...message.stream, id: gateway + id, since: since + delay },
      };
    }
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
