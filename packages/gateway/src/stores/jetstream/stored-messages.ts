/** Single messages of the stream: reads, replaces and deletes them. */
import {
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

import { packMessage, placeMessage, type PlacedMessage } from './message.ts';
import { packReplacement, type Replacement } from './replacement.ts';
import type { StreamAddress } from './stream-address.ts';
import { erasedSubject } from './stream.ts';

const TIMEOUT_MS = 5000;

export class StoredMessages {
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #address: StreamAddress;

  constructor(connection: NatsConnection, manager: JetStreamManager, address: StreamAddress) {
    this.#client = jetstream(connection);
    this.#manager = manager;
    this.#address = address;
  }

  /** Undefined if it is deleted. */
  async at(position: number): Promise<PlacedMessage | undefined> {
    return placed(await this.#get({ seq: position }));
  }

  /** The newest replacement of the message at the position. */
  async replacementOf(position: number): Promise<PlacedMessage | undefined> {
    return placed(await this.#get({ last_by_subj: erasedSubject(this.#address, position) }));
  }

  /** Those of a subject, in their order, from a position on. They may be deleted meanwhile. */
  async *of(subject: string, from: number): AsyncGenerator<PlacedMessage> {
    for (let seq = from; ;) {
      const query = { seq, next_by_subj: subject };
      const message = placed(await this.#get(query));
      if (message === undefined) return;
      yield message;
      seq = message.position + 1;
    }
  }

  /**
   * Publishes what takes the place of the message at the position, with the header of another one.
   * Throws where `last` is not the newest replacement any more, or the stream cannot be reached.
   */
  async replace(
    position: number,
    last: number,
    { origin, left }: { readonly origin: PlacedMessage; readonly left: Replacement },
  ): Promise<void> {
    const message = packMessage('replacement', origin, packReplacement(left));
    await this.#client.publish(erasedSubject(this.#address, position), message, {
      timeout: TIMEOUT_MS,
      expect: { lastSubjectSequence: last },
    });
  }

  /** The servers overwrite its bytes. Does nothing if it is deleted already. */
  async delete(position: number): Promise<void> {
    try {
      await this.#manager.streams.deleteMessage(this.#address.stream, position, true);
    } catch (error) {
      if ((await this.at(position)) !== undefined) throw error;
    }
  }

  #get(query: { seq: number } | { last_by_subj: string }): Promise<StoredMsg | null> {
    return this.#manager.streams.getMessage(this.#address.stream, query);
  }
}

function placed(message: StoredMsg | null): PlacedMessage | undefined {
  return message === null ? undefined : placeMessage(message);
}
