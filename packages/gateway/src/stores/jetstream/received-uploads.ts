/**
 * The large bodies that arrive in chunks, in the folder of uploads. Owns which of them are unfinished:
 * a restart reads the stream again from the first message of the oldest, since chunks are not flushed.
 * What becomes of an upload follows from the messages since its first chunk alone, on all copies alike.
 * One that was given up stays so, whatever comes of it later: its chunks are erased in the stream.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import type { DataPaths } from '../sqlite/data-paths.ts';
import type { LargeBody } from '../sqlite/log/batch.ts';
import {
  assertBody,
  BodyDigest,
  digestOfFile,
  discardUpload,
  filesOf,
  placeUpload,
} from '../sqlite/log/large-files.ts';
import { VALID_MS } from '../sqlite/log/stream-progress.ts';
import type { UploadThreads } from '../sqlite/log/upload-threads.ts';
import type { Chunk, PlacedMessage } from './message.ts';
import { gatewayOf } from './publisher.ts';

/**
 * An upload is abandoned when its publisher was silent for so long: whatever that has sent is void by
 * then. It is also abandoned when its gateway has been started again.
 */
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
  readonly #paths: DataPaths;
  readonly #threads: UploadThreads;
  readonly #unfinished = new Map<string, Upload>();
  /** Those of which the draft has come, in its order. */
  readonly #completed: { readonly name: string; readonly position: number }[] = [];
  /** Those that were given up. */
  readonly #unused: Set<string>;
  /** Those of which that is not stored yet, or of which a chunk has come since. */
  #unstored: string[] = [];

  /** `unused`: those that were given up before this start. */
  constructor(paths: DataPaths, threads: UploadThreads, unused: Iterable<string> = []) {
    this.#paths = paths;
    this.#threads = threads;
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

  /** To be called with each chunk. */
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

  async write({ name, file, offset, bytes }: Chunk): Promise<void> {
    const path = this.#path(filesOf(name)[file] ?? name);
    await using handle = await open(path, constants.O_WRONLY | constants.O_CREAT);
    await this.#threads.run(() => writeAll(handle, bytes, offset));
  }

  /**
   * Gives the files their final place, flushed. Throws a fault where the body is not what was sent.
   * After a fault, all chunks have to be written again: a flush that failed may have lost any of them.
   */
  async place(large: LargeBody): Promise<void> {
    const { name } = large;
    const files = new Map<string, FileHandle>();
    await using _handles = {
      [Symbol.asyncDispose]: async () => {
        for (const handle of files.values()) await handle.close();
      },
    };
    for (const file of filesOf(name)) {
      const handle = await openIfReceived(this.#path(file));
      if (handle !== undefined) files.set(file, handle);
    }
    const body = files.get(name)?.createReadStream({ start: 0, autoClose: false });
    assertBody(await digestOfFile(body ?? Readable.from([])), large);
    await placeUpload(this.#paths, this.#threads, files);
  }

  /** Whether it has been given up. */
  isUnused(name: string): boolean {
    return this.#unused.has(name);
  }

  /** No draft gets it from now on. An entry that has it keeps it. */
  async giveUp(name: string): Promise<void> {
    await this.discard(name);
    this.#unused.add(name);
    this.#unstored.push(name);
  }

  /** Those that were given up since the last call, to be stored with what is applied next. */
  takeUnused(): string[] {
    return [...new Set(this.#unstored.splice(0))];
  }

  /** Removes what was received. An entry that has it in its final place keeps it. */
  async discard(name: string): Promise<void> {
    for (const file of filesOf(name)) await rm(this.#path(file), { force: true });
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
    await discardUpload(this.#paths, name);
    this.#unfinished.delete(name);
  }

  #path(file: string): string {
    return join(this.#paths.incoming, file);
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await handle.write(bytes, at, bytes.length - at, offset + at)).bytesWritten;
}

async function openIfReceived(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
