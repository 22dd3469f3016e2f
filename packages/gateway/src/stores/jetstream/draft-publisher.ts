/**
 * Publishes the drafts of the gateway's threads, and answers each when this copy has applied it. One
 * message is on its way at a time; drafts that come meanwhile travel together in the next one.
 */

import { GatewayError } from '@open-presence/protocol';

import {
  type AppendRequest,
  type AppendResponse,
  type LargeBody,
  packDrafts,
  type PackedDraft,
  packResults,
  unpackDrafts,
  unpackResult,
  type WriteResult,
} from '../sqlite/log/batch.ts';
import type { Publisher } from './publisher.ts';

const MAX_MESSAGE_SIZE = 512 * 1024;
/** A longer one travels in chunks. */
const MAX_BODY_SIZE = 256 * 1024;

/** The results of a batch that are there, and how many are not. */
interface PendingBatch {
  readonly results: WriteResult[];
  missing: number;
  readonly respond: (results: readonly WriteResult[]) => void;
}

/** Consecutive drafts of a batch, packed. */
interface Piece {
  readonly batch: PendingBatch;
  readonly from: number;
  readonly count: number;
  readonly packed: Uint8Array;
}

/** Leads to a thread that appends. */
export interface ClientPort {
  postMessage(response: AppendResponse, transfer: ArrayBuffer[]): void;
}

export interface UploadSending {
  /** Writes a body to a file. Throws a `GatewayError` where that fails. */
  spool(body: Uint8Array): Promise<LargeBody>;
  /** Resolves when the stream has the upload. */
  send(large: LargeBody): Promise<void>;
  /** Removes an upload of which no draft is published. */
  discard(large: LargeBody): void;
}

export class DraftPublisher {
  readonly #publisher: Publisher;
  readonly #uploads: UploadSending;
  readonly #queue: Piece[] = [];
  /** Those that are published, by the number of their message. */
  readonly #published = new Map<number, readonly Piece[]>();
  #isSending = false;

  constructor(publisher: Publisher, uploads: UploadSending) {
    this.#publisher = publisher;
    this.#uploads = uploads;
  }

  add(client: ClientPort, { batch: id, drafts: packed }: AppendRequest): void {
    const drafts = unpackDrafts(packed);
    const batch: PendingBatch = {
      results: [],
      missing: drafts.length,
      respond: (results) => {
        const response: AppendResponse = { batch: id, results: packResults(results) };
        client.postMessage(response, [response.results.buffer]);
      },
    };
    if (packed.byteLength <= MAX_MESSAGE_SIZE && drafts.every(({ large }) => large === undefined)) {
      this.#enqueue({ batch, from: 0, count: drafts.length, packed: new Uint8Array(packed) });
      return;
    }
    for (const [from, draft] of drafts.entries()) {
      if (draft.large === undefined && draft.body.length <= MAX_BODY_SIZE)
        this.#enqueue({ batch, from, count: 1, packed: new Uint8Array(packDrafts([draft])) });
      else void this.#sendLarge(draft, { batch, from, count: 1 });
    }
  }

  async #sendLarge(draft: PackedDraft, piece: Omit<Piece, 'packed'>): Promise<void> {
    try {
      const large = draft.large ?? (await this.#uploads.spool(draft.body));
      await this.#uploads.send(large);
      const packed = packDrafts([{ ...draft, body: new Uint8Array(0), large }]);
      this.#enqueue({ ...piece, packed: new Uint8Array(packed) });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      answer(piece, 0, UNAVAILABLE);
    }
  }

  /** Answers that none of the drafts is stored, without publishing them. */
  refuse(client: ClientPort, { batch, drafts: packed }: AppendRequest): void {
    const drafts = unpackDrafts(packed);
    for (const { large } of drafts) if (large !== undefined) this.#uploads.discard(large);
    const results = packResults(drafts.map(() => UNAVAILABLE));
    client.postMessage({ batch, results } satisfies AppendResponse, [results.buffer]);
  }

  /** To be called when a message of this gateway was applied. `results`: packed. */
  applied(number: number, results: Float64Array | undefined): void {
    const pieces = this.#published.get(number) ?? [];
    this.#published.delete(number);
    let at = 0;
    for (const piece of pieces)
      for (let index = 0; index < piece.count; index += 1, at += 1)
        answer(piece, index, results === undefined ? UNAVAILABLE : unpackResult(results, at));
  }

  /** Answers what is not applied yet as if it could not be stored: whether it will be is unknown. */
  giveUp(): void {
    const numbers = [...this.#published.keys()];
    for (const number of numbers) this.applied(number, undefined);
    for (const piece of this.#queue.splice(0))
      for (let index = 0; index < piece.count; index += 1) answer(piece, index, UNAVAILABLE);
  }

  #enqueue(piece: Piece): void {
    this.#queue.push(piece);
    this.#publish();
  }

  #publish(): void {
    if (this.#isSending || this.#queue.length === 0) return;
    const pieces = this.#takeMessage();
    const [number, sent] = this.#publisher.publish(
      'drafts',
      pieces.map(({ packed }) => packed),
    );
    this.#published.set(number, pieces);
    this.#isSending = true;
    void sent.then(() => {
      this.#isSending = false;
      this.#publish();
    });
  }

  #takeMessage(): Piece[] {
    let [count, size] = [0, 0];
    for (const { packed } of this.#queue) {
      size += packed.length;
      if (count > 0 && size > MAX_MESSAGE_SIZE) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }
}

const UNAVAILABLE: WriteResult = { outcome: 'unavailable', seq: 0, time: 0, salt: 0 };

function answer({ batch, from }: Omit<Piece, 'packed'>, index: number, result: WriteResult): void {
  batch.results[from + index] = result;
  batch.missing -= 1;
  if (batch.missing === 0) batch.respond(batch.results);
}
