/**
 * The large bodies that arrive in chunks, in the folder of uploads. Owns which of them are unfinished:
 * a restart reads the stream again from the first message of the oldest, since chunks are not flushed.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { DataPaths } from '../sqlite/data-paths.ts';
import type { LargeBody } from '../sqlite/log/batch.ts';
import { discardUpload, filesOf, placeUpload } from '../sqlite/log/large-files.ts';
import type { UploadThreads } from '../sqlite/log/upload-threads.ts';
import type { Chunk } from './message.ts';

export class ReceivedUploads {
  readonly #paths: DataPaths;
  readonly #threads: UploadThreads;
  /** Position of the first message of each. */
  readonly #unfinished = new Map<string, number>();
  /** Those of which the draft has come, in its order. */
  readonly #completed: { readonly name: string; readonly position: number }[] = [];

  constructor(paths: DataPaths, threads: UploadThreads) {
    this.#paths = paths;
    this.#threads = threads;
  }

  start(name: string, position: number): void {
    if (!this.#unfinished.has(name)) this.#unfinished.set(name, position);
  }

  /** To be called when the draft, which is at this position, is about to be applied. */
  completed(name: string, position: number): void {
    this.#completed.push({ name, position });
  }

  /** Where to read on from once everything up to the position is applied. */
  resumeAt(position: number): number {
    while ((this.#completed[0]?.position ?? Number.POSITIVE_INFINITY) <= position) {
      const [finished] = this.#completed.splice(0, 1);
      if (finished !== undefined) this.#unfinished.delete(finished.name);
    }
    return Math.min(position + 1, ...this.#unfinished.values());
  }

  async write({ name, file, offset, bytes }: Chunk): Promise<void> {
    const path = this.#path(filesOf(name)[file] ?? name);
    await using handle = await open(path, 'r+').catch(() => open(path, 'w'));
    await this.#threads.run(() => writeAll(handle, bytes, offset));
  }

  /** Gives the files their final place, flushed. Throws if one was not received as a whole. */
  async place({ name, size }: LargeBody): Promise<void> {
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
    const received = await files.get(name)?.stat();
    if (received?.size !== size)
      throw new Error(`The stream has ${received?.size ?? 0} of ${size} bytes of a large entry.`);
    await placeUpload(this.#paths, this.#threads, files);
  }

  /** Removes what was received. An entry that has it in its final place keeps it. */
  async discard(name: string): Promise<void> {
    for (const file of filesOf(name)) await rm(this.#path(file), { force: true });
    this.#unfinished.delete(name);
  }

  /** The same, also from its final place: no entry has it. */
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
