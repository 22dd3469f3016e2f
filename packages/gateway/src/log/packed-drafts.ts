/** Drafts to the writer's thread and results back, one buffer per batch: cloning objects would cost more than storing them. */
import { createHash } from 'node:crypto';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { FaultCause } from '../storage-fault.ts';
import { PORTABILITIES, type Portability } from './portability.ts';

/** Sent by a thread that appends. `drafts` are packed by `packDrafts`. */
export interface AppendRequest {
  readonly batch: number;
  readonly drafts: ArrayBuffer;
}

/** Sent by such a thread when it cannot write an upload, and when it can again. */
export interface UploadReport {
  readonly uploadFault: FaultCause | undefined;
}

export type ToWriter = AppendRequest | UploadReport;

/** `results`: those of all these batches, in their order, packed by `packResults`. */
export interface AppendResponse {
  readonly batches: readonly number[];
  readonly results: Float64Array<ArrayBuffer>;
}

/** Leads to a thread that appends. */
export interface AppendingPort {
  postMessage(response: AppendResponse, transfer: ArrayBuffer[]): void;
}

export interface CompleteBatch {
  readonly client: AppendingPort;
  readonly batch: number;
  readonly results: readonly WriteResult[];
}

/** A draft for the writer. Unpacked ones are views of the batch. */
export interface PackedDraft {
  readonly kind: Kind;
  readonly room: string;
  readonly facets: Uint8Array;
  readonly key: Uint8Array | undefined;
  /** `exact` by default. */
  readonly portability?: Portability;
  /** Empty if the body is large. */
  readonly body: Uint8Array;
  readonly large: LargeBody | undefined;
}

export interface LargeBody {
  readonly name: string;
  /** Bytes of the file: the body and the closing brace. */
  readonly size: number;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
}

const HEADER = 16;
const KEY_SIZE = 32;

export function packDrafts(drafts: readonly PackedDraft[]): ArrayBuffer {
  const larges = drafts.map((d) => (d.large ? Buffer.from(JSON.stringify(d.large)) : undefined));
  let total = 0;
  for (const [index, draft] of drafts.entries()) {
    total += HEADER + draft.room.length + (draft.key === undefined ? 0 : KEY_SIZE);
    total += draft.facets.length + (larges[index] ?? draft.body).length;
  }
  const buffer = Buffer.from(new ArrayBuffer(total));
  let at = 0;
  for (const [index, draft] of drafts.entries()) {
    const large = larges[index];
    const body = large ?? draft.body;
    buffer[at] = KINDS.indexOf(draft.kind);
    buffer[at + 1] = (draft.key === undefined ? 0 : 1) + (large === undefined ? 0 : 2);
    buffer[at + 2] = PORTABILITIES.indexOf(draft.portability ?? 'exact');
    buffer.writeUInt32LE(draft.room.length, at + 4);
    buffer.writeUInt32LE(draft.facets.length, at + 8);
    buffer.writeUInt32LE(body.length, at + 12);
    at += HEADER;
    // A slug is ASCII by the language file's schema.
    at += buffer.write(draft.room, at, 'latin1');
    if (draft.key !== undefined) {
      buffer.set(draft.key, at);
      at += KEY_SIZE;
    }
    buffer.set(draft.facets, at);
    at += draft.facets.length;
    buffer.set(body, at);
    at += body.length;
  }
  return buffer.buffer;
}

export function unpackDrafts(packed: ArrayBuffer): PackedDraft[] {
  const buffer = Buffer.from(packed);
  const drafts: PackedDraft[] = [];
  let at = 0;
  const take = (size: number): Buffer => buffer.subarray(at, (at += size));
  while (at < buffer.length) {
    const kind = KINDS[buffer[at] ?? 0] ?? KINDS[0];
    const flags = buffer[at + 1] ?? 0;
    const portability = PORTABILITIES[buffer[at + 2] ?? 0] ?? 'exact';
    const roomSize = buffer.readUInt32LE(at + 4);
    const facetsSize = buffer.readUInt32LE(at + 8);
    const bodySize = buffer.readUInt32LE(at + 12);
    at += HEADER;
    const room = buffer.toString('latin1', at, (at += roomSize));
    const key = (flags & 1) === 0 ? undefined : take(KEY_SIZE);
    const facets = take(facetsSize);
    const body = take(bodySize);
    const large: LargeBody | undefined =
      (flags & 2) === 0 ? undefined : (JSON.parse(body.toString()) as LargeBody);
    drafts.push({ kind, room, facets, key, portability, body, large });
  }
  return drafts;
}

const OUTCOMES = ['appended', 'repeated', 'conflict', 'out-of-space', 'unavailable'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What became of a draft. Seq, time and salt are 0 where nothing was stored. */
export interface WriteResult {
  readonly outcome: Outcome;
  readonly seq: number;
  readonly time: number;
  readonly salt: number;
}

/** Numbers of one result: index in `OUTCOMES`, seq, time, salt. */
const RESULT_WIDTH = 4;

export function packResults(results: readonly WriteResult[]): Float64Array<ArrayBuffer> {
  const numbers = new Float64Array(results.length * RESULT_WIDTH);
  for (const [index, { outcome, seq, time, salt }] of results.entries()) {
    const at = index * RESULT_WIDTH;
    numbers[at] = OUTCOMES.indexOf(outcome);
    numbers[at + 1] = seq;
    numbers[at + 2] = time;
    numbers[at + 3] = salt;
  }
  return numbers;
}

export function unpackResult(numbers: Float64Array, index: number): WriteResult {
  const at = index * RESULT_WIDTH;
  return {
    outcome: OUTCOMES[numbers[at] ?? -1] ?? 'unavailable',
    seq: numbers[at + 1] ?? 0,
    time: numbers[at + 2] ?? 0,
    salt: numbers[at + 3] ?? 0,
  };
}

/** Answers batches, all those of one client in one message. */
export function sendResults(complete: readonly CompleteBatch[]): void {
  for (const [client, own] of Map.groupBy(complete, (batch) => batch.client)) {
    const batches = own.map(({ batch }) => batch);
    const results = packResults(own.flatMap((batch) => batch.results));
    client.postMessage({ batches, results }, [results.buffer]);
  }
}

const BRACE = 0x7d;

/** Digest of a body as it comes, without its last byte, which is the closing brace. */
export class BodyDigest {
  readonly #hash = createHash('sha256');
  size = 0;
  last: number | undefined;

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.last !== undefined) this.#hash.update(Uint8Array.of(this.last));
    this.#hash.update(bytes.subarray(0, -1));
    this.last = bytes.at(-1);
    this.size += bytes.length;
  }

  digest(): Buffer {
    return this.#hash.copy().digest();
  }

  isOf({ size, digest }: LargeBody): boolean {
    return this.size === size && this.last === BRACE && this.digest().toString('hex') === digest;
  }
}
