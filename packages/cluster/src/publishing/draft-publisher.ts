/**
 * Publishes the drafts of the gateway's threads, and answers each after this copy has applied it. Only one
 * message is on its way at a time. Drafts that come meanwhile travel together in the next one. That
 * message waits a short while for the callers who were just answered, who may say more.
 */

import {
  type AppendRequest,
  type AppendingPort,
  type LargeBody,
  packDrafts,
  type PackedDraft,
  sendResults,
  unpackDrafts,
  unpackResult,
  type WriteResult,
} from '@open-presence/gateway/replica';

import type { Publisher } from './publisher.ts';

const MAX_MESSAGE_SIZE = 512 * 1024;
/** A longer body travels in chunks. */
const MAX_BODY_SIZE = 256 * 1024;

/** The next message waits for callers for at most this share of the time that the last one took. */
const WAITING_SHARE = 0.5;
const MAX_WAITING_MS = 20;

/** A batch whose results are not complete yet. */
interface PendingBatch {
  readonly client: AppendingPort;
  readonly batch: number;
  readonly results: WriteResult[];
  missing: number;
}

/** Consecutive drafts of a batch, packed. */
interface Piece {
  readonly batch: PendingBatch;
  readonly from: number;
  readonly count: number;
  readonly packed: Uint8Array;
}

export interface UploadSending {
  /** Writes a body to a file. Undefined if that fails. */
  spool(body: Uint8Array): Promise<LargeBody | undefined>;
  /** Resolves when the stream has the upload. Resolves too if it cannot be read: no copy takes its draft then. */
  send(large: LargeBody): Promise<void>;
  /** Removes an upload whose draft was not published. */
  discard(large: LargeBody): void;
}

export class DraftPublisher {
  readonly #publisher: Pick<Publisher, 'publish'>;
  readonly #uploads: UploadSending;
  /** Large drafts whose uploads are on their way to the stream. */
  readonly #sending = new Set<Omit<Piece, 'packed'>>();
  readonly #queue: Piece[] = [];
  #queued = 0;
  /** Published pieces, by the number of their message. */
  readonly #published = new Map<number, readonly Piece[]>();
  /** The message that is on its way. `since`: in ms since 1970. */
  #onItsWay: { readonly number: number; readonly since: number } | undefined;
  /** The next message waits until there are this many drafts, or until the timer ends. */
  #expected = 0;
  #waiting: NodeJS.Timeout | undefined;

  constructor(publisher: Pick<Publisher, 'publish'>, uploads: UploadSending) {
    this.#publisher = publisher;
    this.#uploads = uploads;
  }

  add(client: AppendingPort, { batch: id, drafts: packed }: AppendRequest): void {
    const drafts = unpackDrafts(packed);
    const batch: PendingBatch = { client, batch: id, results: [], missing: drafts.length };
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
    this.#sending.add(piece);
    const large = draft.large ?? (await this.#uploads.spool(draft.body));
    if (large !== undefined) await this.#uploads.send(large);
    // If it is gone, `giveUp` has answered it.
    if (!this.#sending.delete(piece)) return;
    if (large === undefined) {
      answer([piece], undefined);
      return;
    }
    const packed = packDrafts([{ ...draft, body: new Uint8Array(0), large }]);
    this.#enqueue({ ...piece, packed: new Uint8Array(packed) });
  }

  /** Answers without publishing that none of the drafts is stored. */
  refuse(client: AppendingPort, { batch, drafts: packed }: AppendRequest): void {
    const drafts = unpackDrafts(packed);
    for (const { large } of drafts) if (large !== undefined) this.#uploads.discard(large);
    sendResults([{ client, batch, results: drafts.map(() => UNAVAILABLE) }]);
  }

  /** A message of this gateway was applied. `results`: packed. */
  applied(number: number, results: Float64Array | undefined): void {
    const pieces = this.#published.get(number) ?? [];
    this.#published.delete(number);
    const answered = answer(pieces, results);
    if (number === this.#onItsWay?.number) this.#next(answered, Date.now() - this.#onItsWay.since);
  }

  /** Answers all drafts that are not applied yet as if they could not be stored. Published ones may still be. */
  giveUp(): void {
    const numbers = [...this.#published.keys()];
    for (const number of numbers) this.applied(number, undefined);
    this.#queued = 0;
    answer([...this.#queue.splice(0), ...this.#sending], undefined);
    this.#sending.clear();
  }

  #enqueue(piece: Piece): void {
    this.#queue.push(piece);
    this.#queued += piece.count;
    this.#publish();
  }

  /** Waits a while for the `answered` callers to say more. `ms`: how long the last message was on its way. */
  #next(answered: number, ms: number): void {
    this.#onItsWay = undefined;
    this.#expected = answered + this.#queued;
    this.#waiting = setTimeout(
      () => {
        this.#expected = 0;
        this.#publish();
      },
      Math.min(MAX_WAITING_MS, ms * WAITING_SHARE),
    );
  }

  #publish(): void {
    if (this.#onItsWay !== undefined || this.#queued === 0) return;
    if (this.#queued < this.#expected) return;
    clearTimeout(this.#waiting);
    const pieces = this.#takeMessage();
    const [number] = this.#publisher.publish(
      'drafts',
      pieces.map(({ packed }) => packed),
    );
    this.#published.set(number, pieces);
    this.#onItsWay = { number, since: Date.now() };
  }

  #takeMessage(): Piece[] {
    let [pieces, drafts, size] = [0, 0, 0];
    for (const { packed, count } of this.#queue) {
      size += packed.length;
      if (pieces > 0 && size > MAX_MESSAGE_SIZE) break;
      pieces += 1;
      drafts += count;
    }
    this.#queued -= drafts;
    return this.#queue.splice(0, pieces);
  }
}

const UNAVAILABLE: WriteResult = { outcome: 'unavailable', seq: 0, time: 0, salt: 0 };

/** Answers the batches that now have all results. `results`: undefined if none is stored. Returns the number of drafts. */
function answer(
  pieces: readonly Omit<Piece, 'packed'>[],
  results: Float64Array | undefined,
): number {
  const complete: PendingBatch[] = [];
  let at = 0;
  for (const { batch, from, count } of pieces) {
    for (let index = from; index < from + count; index += 1, at += 1)
      batch.results[index] = results === undefined ? UNAVAILABLE : unpackResult(results, at);
    batch.missing -= count;
    if (batch.missing === 0) complete.push(batch);
  }
  sendResults(complete);
  return at;
}
