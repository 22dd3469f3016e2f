/**
 * The large bodies that arrive in chunks, in the folder of uploads. Owns which of them are unfinished:
 * a restart reads the stream again from the first message of the oldest, since chunks are not flushed.
 * What becomes of an upload follows from the messages since its first chunk alone, on all copies alike.
 * One that was given up stays so, whatever comes of it later: its chunks are erased in the stream.
 *
 * Invariant: All copies take an upload, or all refuse it: the bytes in the stream decide, not those
 *   on a disk.
 * Test: `test/cluster/uploads.test.ts` “makes none in any copy where the stream has other bytes of
 *   it” “faults of disks while an upload travels”
 * Test: `packages/cluster/src/applying/received-uploads.test.ts` “are not whole when one byte of
 *   the stream is another”
 */
import {
  BodyDigest,
  type LargeBody,
  type UploadFiles,
  VALID_MS,
} from '@open-presence/gateway/replica';

import { gatewayOf } from '../publishing/publisher.ts';
import type { Chunk, PlacedMessage } from '../stream/message.ts';

/** An upload is abandoned after this silence of its publisher, or once its gateway was started again. */
const ABANDONED_MS: number = VALID_MS;

interface Upload {
  readonly publisher: string;
  /** Position of its first message. */
  readonly position: number;
  /** When the stream took the last message of its publisher, in ms since 1970. */
  last: number;
  /** The body as far as it has come without a gap. */
  readonly body: BodyDigest;
  /** Chunks of the body after a gap, by where they begin: few, as its publisher has few on their way. */
  readonly ahead: Map<number, Uint8Array>;
  isCompleted: boolean;
}

export class ReceivedUploads {
  readonly #files: UploadFiles;
  readonly #unfinished = new Map<string, Upload>();
  /** Uploads whose draft has come, in the order of the drafts. */
  readonly #completed: { readonly name: string; readonly position: number }[] = [];
  /** Abandoned uploads. */
  readonly #unused: Set<string>;
  /** Abandoned uploads to be stored as such with the next commit. A later chunk adds its upload again. */
  #unstored: string[] = [];

  /** `unused`: uploads that were abandoned before this start. */
  constructor(files: UploadFiles, unused: Iterable<string> = []) {
    this.#files = files;
    this.#unused = new Set(unused);
  }

  /** To be called with each message, before anything else of it. Returns the uploads that are abandoned now. */
  abandonedBy({ publisher, time }: Pick<PlacedMessage, 'publisher' | 'time'>): string[] {
    const abandoned: string[] = [];
    const gateway = gatewayOf(publisher);
    for (const [name, upload] of this.#unfinished) {
      if (upload.isCompleted) continue;
      const isOwn = upload.publisher === publisher;
      if (isOwn) upload.last = time;
      else if (gatewayOf(upload.publisher) === gateway || time - upload.last > ABANDONED_MS)
        abandoned.push(name);
    }
    return abandoned;
  }

  add({ publisher, position, time }: PlacedMessage, { name, file, offset, bytes }: Chunk): void {
    if (this.#unused.has(name)) {
      this.#unstored.push(name);
      return;
    }
    const found = this.#unfinished.get(name);
    const none = {
      body: new BodyDigest(),
      ahead: new Map<number, Uint8Array>(),
      isCompleted: false,
    };
    const upload = found ?? { publisher, position, last: time, ...none };
    this.#unfinished.set(name, upload);
    const { body, ahead } = upload;
    if (file !== 0 || offset < body.size) return;
    ahead.set(offset, bytes);
    for (let next = ahead.get(body.size); next; next = ahead.get(body.size)) {
      ahead.delete(body.size);
      body.add(next);
    }
  }

  /** Whether exactly this body has come, and no draft of it yet. */
  isWhole(large: LargeBody): boolean {
    const upload = this.#unfinished.get(large.name);
    return upload !== undefined && !upload.isCompleted && upload.body.isOf(large);
  }

  /** To be called when the draft, which is at this position, is about to be applied. */
  completed(name: string, position: number): void {
    const upload = this.#unfinished.get(name);
    if (upload !== undefined) upload.isCompleted = true;
    this.#completed.push({ name, position });
  }

  /** Where to read on from once everything up to the position is applied. */
  resumeAt(position: number): number {
    while ((this.#completed[0]?.position ?? Number.POSITIVE_INFINITY) <= position) {
      const [finished] = this.#completed.splice(0, 1);
      if (finished !== undefined) this.#unfinished.delete(finished.name);
    }
    const starts = Array.from(this.#unfinished.values(), ({ position: start }) => start);
    return Math.min(position + 1, ...starts);
  }

  async write({ name, ...chunk }: Chunk): Promise<void> {
    await this.#files.write(name, chunk);
  }

  /** See `UploadFiles`. */
  async place(large: LargeBody): Promise<void> {
    await this.#files.place(large);
  }

  isUnused(name: string): boolean {
    return this.#unused.has(name);
  }

  /** No draft gets it from now on. An entry that has it keeps it. */
  async giveUp(name: string): Promise<void> {
    await this.discard(name);
    this.#unused.add(name);
    this.#unstored.push(name);
  }

  /** Uploads that were abandoned since the last call. The caller stores their names with its next commit. */
  takeUnused(): string[] {
    return [...new Set(this.#unstored.splice(0))];
  }

  /** Removes what was received. An entry that has it in its final place keeps it. */
  async discard(name: string): Promise<void> {
    await this.#files.discard(name);
    this.#unfinished.delete(name);
  }

  /** To be called with a draft that cannot have the body. One that was placed before for another draft stays. */
  async refuse(name: string): Promise<void> {
    const upload = this.#unfinished.get(name);
    if (upload?.isCompleted === true) return;
    if (upload === undefined) await this.discard(name);
    else await this.giveUp(name);
  }

  /** Removes it from its final place, too: no entry has it. */
  async remove(name: string): Promise<void> {
    await this.#files.remove(name);
    this.#unfinished.delete(name);
  }
}
