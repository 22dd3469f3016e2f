/** A stream and the way to it: messages are lost, late, repeated, and stored in another order. */
import { setTimeout as sleep } from 'node:timers/promises';

import {
  packMessage,
  placeMessage,
  type PlacedMessage,
} from '../../../packages/cluster/src/stream/message.ts';
import { packReplacement } from '../../../packages/cluster/src/stream/replacement.ts';
import type { MessageStore } from '../../../packages/cluster/src/stream/stored-messages.ts';
import type { SeededRandom } from '../../seeded-random.ts';

export interface StoredMessage {
  /** From 1, without gaps. */
  readonly position: number;
  /** In ms since 1970. May go back, when another server leads the stream. */
  readonly time: number;
  readonly subject: string;
  /** As it was published, also if it is deleted. */
  readonly data: Uint8Array;
  isDeleted: boolean;
}

const NO_ANSWER_MS = 3000;
const MAX_DELAY_MS = 50;
/** A message that is this late comes after it was published again. */
const MAX_LATE_MS = 20_000;
/** Clocks of leaders may be hours wrong. */
const MAX_SKEW_MS = 6 * 3_600_000;

export class SimulatedStream {
  readonly messages: StoredMessage[] = [];
  /** Whether everything arrives, and is acknowledged. */
  isReliable = false;
  readonly #random: SeededRandom;
  /** How many of its newest messages it tells from one that comes again. */
  readonly #memory: number;
  readonly #ids: string[] = [];
  #skew = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#memory = random.below(20);
  }

  /** Returns its position, or that of the same message if it is known. */
  store(id: string | undefined, subject: string, data: Uint8Array): number {
    const known = id === undefined ? -1 : this.#ids.lastIndexOf(id);
    if (known !== -1 && known >= this.#ids.length - this.#memory) return known + 1;
    if (this.#random.chance(0.1)) this.#skew = this.#random.below(MAX_SKEW_MS);
    this.#ids.push(id ?? '');
    const time = Date.now() - this.#skew;
    const position = this.messages.length + 1;
    this.messages.push({ position, time, subject, data, isDeleted: false });
    return position;
  }
}

/** A way to it. What happens on one does not change what happens on others. */
export class SimulatedConnection {
  readonly stream: SimulatedStream;
  readonly #random: SeededRandom;

  constructor(stream: SimulatedStream, random: SeededRandom) {
    this.stream = stream;
    this.#random = random;
  }

  /** Rejects where no answer comes: the message may still be stored, even later. */
  async publish(id: string, subject: string, data: Uint8Array): Promise<{ readonly seq: number }> {
    const [fate, delay, late, back] = [
      this.#random.next(),
      this.#random.next(),
      this.#random.next(),
      this.#random.next(),
    ] as const;
    const store = async (ms: number): Promise<number> => {
      await sleep(ms);
      return this.stream.store(id, subject, data);
    };
    const chance = this.stream.isReliable ? 1 : fate;
    if (chance >= 0.3) {
      const seq = await store(delay * MAX_DELAY_MS);
      await sleep(back * MAX_DELAY_MS);
      return { seq };
    }
    if (chance < 0.1) void store(late * MAX_LATE_MS);
    else if (chance < 0.2) void store(delay * MAX_DELAY_MS);
    await sleep(NO_ANSWER_MS);
    throw new Error('No answer came.');
  }

  /** Like an answer of the servers to a request for one message, or none. */
  async request<Result>(work: () => Result): Promise<Result> {
    await sleep(this.#random.below(MAX_DELAY_MS));
    const chance = this.stream.isReliable ? 1 : this.#random.next();
    const result = chance < 0.05 ? undefined : { of: work() };
    await sleep(this.#random.below(MAX_DELAY_MS));
    if (chance < 0.1 || result === undefined) throw new Error('No answer came.');
    return result.of;
  }
}

/** Its single messages, as a gateway reaches them. */
export class SimulatedMessages implements MessageStore {
  readonly #connection: SimulatedConnection;
  readonly #stream: SimulatedStream;
  readonly #isBroken: boolean;

  /** `isBroken`: it replaces nothing. */
  constructor(connection: SimulatedConnection, isBroken: boolean) {
    this.#connection = connection;
    this.#stream = connection.stream;
    this.#isBroken = isBroken;
  }

  async at(position: number): Promise<PlacedMessage | undefined> {
    return await this.#find((message) => message.position === position);
  }

  async replacementOf(position: number): Promise<PlacedMessage | undefined> {
    return await this.#connection.request(() => placed(this.#lastOf(erasedSubject(position))));
  }

  chunksOf(upload: string): AsyncIterable<PlacedMessage> {
    return this.#of((subject) => subject.endsWith(`.upload.${upload}`));
  }

  replacementsOf(position: number): AsyncIterable<PlacedMessage> {
    return this.#of((subject) => subject === erasedSubject(position));
  }

  async replace(
    position: number,
    last: number,
    { origin, left }: Parameters<MessageStore['replace']>[2],
  ): Promise<void> {
    const message = packMessage('replacement', origin, packReplacement(left));
    const subject = erasedSubject(position);
    await this.#connection.request(() => {
      if ((this.#lastOf(subject)?.position ?? 0) !== last) throw new Error('It is not the last.');
      if (!this.#isBroken) this.#stream.store(undefined, subject, message);
    });
  }

  async delete(position: number): Promise<void> {
    await this.#connection.request(() => {
      const message = this.#stream.messages[position - 1];
      if (message !== undefined) message.isDeleted = true;
    });
  }

  async *#of(isOf: (subject: string) => boolean): AsyncGenerator<PlacedMessage> {
    for (let last = 0; ;) {
      const after = last;
      const next = await this.#find(({ position, subject }) => position > after && isOf(subject));
      if (next === undefined) return;
      yield next;
      last = next.position;
    }
  }

  #find(isIt: (message: StoredMessage) => boolean): Promise<PlacedMessage | undefined> {
    return this.#connection.request(() =>
      placed(this.#stream.messages.find((message) => !message.isDeleted && isIt(message))),
    );
  }

  #lastOf(subject: string): StoredMessage | undefined {
    return this.#stream.messages.findLast(
      (message) => !message.isDeleted && message.subject === subject,
    );
  }
}

function placed(message: StoredMessage | undefined): PlacedMessage | undefined {
  if (message === undefined) return undefined;
  const { position, time, data } = message;
  return placeMessage({ seq: position, time: new Date(time), data });
}

function erasedSubject(position: number): string {
  return `simulated.erased.${position}`;
}
