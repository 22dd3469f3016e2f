/**
 * The uploads that arrive in chunks. Owns which of them are unfinished.
 * Chunks are not flushed, so a restart reads the stream again from the first message of the oldest
 * unfinished upload. Only the messages since its first chunk decide what happens to an upload, so all
 * copies decide alike. An upload that was given up stays so, even if more chunks come: the stream
 * eraser deletes its chunks.
 *
 * Invariant: Either all copies take an upload or all refuse it: the bytes in the stream decide, not
 *   the bytes on a disk.
 * Test: `test/cluster/uploads.test.ts` “makes none in any copy where the stream has other bytes of
 *   it” “faults of disks while an upload travels”
 * Test: `packages/cluster/src/applying/received-uploads.test.ts` “are not whole when one byte in
 *   the stream differs”
 */
import {
  BodyDigest,
  type LargeBody,
  type UploadFiles,
  VALID_MS,
} from '@open-presence/gateway/replica';

import { gatewayOf } from '../publishing/publisher.ts';
import type { Chunk, PlacedMessage } from '../stream/message.ts';

/** An upload is abandoned when its publisher is silent for longer, or its gateway has started again. */
const ABANDONED_MS: number = VALID_MS;

interface Upload {
  readonly publisher: string;
  /** Position of its first message. */
  readonly position: number;
  /** When the stream took the last message of its publisher, in ms since 1970. */
  last: number;
  /** The body up to the first missing byte. */
  readonly body: BodyDigest;
  /** Chunks of the body after a gap, by their offset: few, since the publisher sends only a few at once. */
  readonly ahead: Map<number, Uint8Array>;
  isCompleted: boolean;
}

export class ReceivedUploads {
  readonly #files: UploadFiles;
  readonly #unfinished = new Map<string, Upload>();
  /** Uploads that a draft got, in the order of the drafts. */
  readonly #completed: { readonly name: string; readonly position: number }[] = [];
  /** Uploads that were given up. */
  readonly #unused: Set<string>;
  /** Given-up uploads to be recorded with the next commit. A later chunk adds its upload again. */
  #unstored: string[] = [];

  /** `unused`: uploads that were given up before this start. */
  constructor(files: UploadFiles, unused: Iterable<string> = []) {
    this.#files = files;
    this.#unused = new Set(unused);
  }

  /** The caller passes each message before it handles it. Returns the uploads that are abandoned now. */
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

  add({ publisher, position, time }: PlacedMessage, { name, offset, bytes }: Chunk): void {
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
    if (offset < body.size) return;
    ahead.set(offset, bytes);
    for (let next = ahead.get(body.size); next; next = ahead.get(body.size)) {
      ahead.delete(body.size);
      body.add(next);
    }
  }

  /** Whether exactly this body has come, and no draft has got it yet. */
  isWhole(large: LargeBody): boolean {
    const upload = this.#unfinished.get(large.name);
    return upload !== undefined && !upload.isCompleted && upload.body.isOf(large);
  }

  /** The draft at this position is about to be applied, with this upload. */
  completed(name: string, position: number): void {
    const upload = this.#unfinished.get(name);
    if (upload !== undefined) upload.isCompleted = true;
    this.#completed.push({ name, position });
  }

  /** The message to read on from once everything up to the position is applied. */
  resumeAt(position: number): number {
    while ((this.#completed[0]?.position ?? Number.POSITIVE_INFINITY) <= position) {
      const [finished] = this.#completed.splice(0, 1);
      if (finished !== undefined) this.#unfinished.delete(finished.name);
    }
    const starts = Array.from(this.#unfinished.values(), ({ position: start }) => start);
    return Math.min(position + 1, ...starts);
  }

  isUnused(name: string): boolean {
    return this.#unused.has(name);
  }

  /** No draft gets the upload from now on. An entry that has it keeps it. */
  async giveUp(name: string): Promise<void> {
    await this.discard(name);
    this.#unused.add(name);
    this.#unstored.push(name);
  }

  /** The uploads given up since the last call. The caller records them with its next commit. */
  takeUnused(): string[] {
    return [...new Set(this.#unstored.splice(0))];
  }

  /** Removes the received files. An entry that has them in their final place keeps them. */
  async discard(name: string): Promise<void> {
    await this.#files.discard(name);
    this.#unfinished.delete(name);
  }

  /** For a draft that cannot have the upload. If an earlier draft got it, the upload stays. */
  async refuse(name: string): Promise<void> {
    const upload = this.#unfinished.get(name);
    if (upload?.isCompleted === true) return;
    if (upload === undefined) await this.discard(name);
    else await this.giveUp(name);
  }

  /** Removes the files from their final place, too: no entry has them. */
  async remove(name: string): Promise<void> {
    await this.#files.remove(name);
    this.#unfinished.delete(name);
  }
}
