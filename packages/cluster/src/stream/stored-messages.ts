import {
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  type StoredMsg,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { StreamAddress } from '@open-presence/gateway/replica';

import { packMessage, placeMessage, type PlacedMessage } from './message.ts';
import { packReplacement, type Replacement } from './replacement.ts';
import { erasedSubject, uploadSubject } from './stream.ts';

const TIMEOUT_MS = 5000;

export interface MessageStore {
  /** The message at the position; undefined if it is deleted. */
  at(position: number): Promise<PlacedMessage | undefined>;
  /** The newest replacement of the message at the position. */
  replacementOf(position: number): Promise<PlacedMessage | undefined>;
  /** The messages with the chunks of an upload, in their order. The caller may delete them meanwhile. */
  chunksOf(upload: string): AsyncIterable<PlacedMessage>;
  /** The replacements of the message at the position, in their order. The caller may delete them meanwhile. */
  replacementsOf(position: number): AsyncIterable<PlacedMessage>;
  /** Publishes a replacement. Throws unless `last` is the position of the newest one so far; 0 if there is none. */
  replace(position: number, last: number, by: ReplacingMessage): Promise<void>;
  /** Deletes a message; the servers overwrite its bytes. Does nothing if it is deleted already. */
  delete(position: number): Promise<void>;
}

interface ReplacingMessage {
  readonly origin: PlacedMessage;
  readonly left: Replacement;
}

export class StoredMessages implements MessageStore {
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #address: StreamAddress;

  constructor(connection: NatsConnection, manager: JetStreamManager, address: StreamAddress) {
    this.#client = jetstream(connection);
    this.#manager = manager;
    this.#address = address;
  }

  async at(position: number): Promise<PlacedMessage | undefined> {
    return placed(await this.#get({ seq: position }));
  }

  async replacementOf(position: number): Promise<PlacedMessage | undefined> {
    return placed(await this.#get({ last_by_subj: erasedSubject(this.#address, position) }));
  }

  chunksOf(upload: string): AsyncIterable<PlacedMessage> {
    return this.#of(uploadSubject(this.#address, upload), 1);
  }

  replacementsOf(position: number): AsyncIterable<PlacedMessage> {
    return this.#of(erasedSubject(this.#address, position), position);
  }

  async replace(position: number, last: number, { origin, left }: ReplacingMessage): Promise<void> {
    const message = packMessage('replacement', origin, packReplacement(left));
    await this.#client.publish(erasedSubject(this.#address, position), message, {
      timeout: TIMEOUT_MS,
      expect: { lastSubjectSequence: last },
    });
  }

  async delete(position: number): Promise<void> {
    try {
      await this.#manager.streams.deleteMessage(this.#address.stream, position, true);
    } catch (error) {
      if ((await this.at(position)) !== undefined) throw error;
    }
  }

  /** The messages of a subject, from a position on. */
  async *#of(subject: string, from: number): AsyncGenerator<PlacedMessage> {
    for (let seq = from; ;) {
      const query = { seq, next_by_subj: subject };
      const message = placed(await this.#get(query));
      if (message === undefined) return;
      yield message;
      seq = message.position + 1;
    }
  }

  #get(query: { seq: number } | { last_by_subj: string }): Promise<StoredMsg | null> {
    return this.#manager.streams.getMessage(this.#address.stream, query);
  }
}

function placed(message: StoredMsg | null): PlacedMessage | undefined {
  return message === null ? undefined : placeMessage(message);
}
