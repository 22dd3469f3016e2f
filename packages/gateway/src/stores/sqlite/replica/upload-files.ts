/** The files of a replica's uploads: those that its visitors send, and those that come from the stream. */
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { GatewayError } from '@open-presence/protocol';

import { BodyDigest, type LargeBody } from '../../../log/packed-drafts.ts';
import type { UploadChunk, UploadFiles } from '../../../log/replica.ts';
import type { DataPaths } from '../data-paths.ts';
import { FileSpool, Spools } from '../large/file-spool.ts';
import {
  assertBody,
  digestOfFile,
  discardUpload,
  filesOf,
  finalPath,
  placeUpload,
} from '../large/large-files.ts';
import type { SharedState } from '../shared-state.ts';
import { isMissing } from '../segment-record.ts';

export class SqliteUploadFiles implements UploadFiles {
  readonly #paths: DataPaths;
  readonly #spools: Spools;

  constructor(paths: DataPaths, shared: SharedState, onOutcome: (fault?: Error) => void) {
    this.#paths = paths;
    this.#spools = new Spools(paths, shared, onOutcome);
  }

  async spool(body: Uint8Array): Promise<LargeBody | undefined> {
    const spool = new FileSpool(this.#spools);
    try {
      await spool.write(body);
      return await spool.seal();
    } catch (error) {
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }

  async *chunks(large: LargeBody, size: number): AsyncGenerator<UploadChunk> {
    const { name } = large;
    const body = new BodyDigest();
    for (const [file, path] of [...filesOf(name).entries()].toReversed()) {
      const handle = await openIfThere(finalPath(this.#paths, path), 'r');
      if (handle === undefined) continue;
      await using _file = handle;
      for (let offset = 0; ;) {
        const buffer = Buffer.allocUnsafeSlow(size);
        const { bytesRead } = await handle.read(buffer, { position: offset });
        if (bytesRead === 0) break;
        const bytes = buffer.subarray(0, bytesRead);
        if (file === 0) body.add(bytes);
        yield { file, offset, bytes };
        offset += bytesRead;
      }
    }
    assertBody(body, large);
  }

  async write(name: string, { file, offset, bytes }: UploadChunk): Promise<void> {
    const path = this.#path(filesOf(name)[file] ?? name);
    await using handle = await open(path, constants.O_WRONLY | constants.O_CREAT);
    await this.#spools.threads.run(() => writeAll(handle, bytes, offset));
  }

  async place(large: LargeBody): Promise<void> {
    const { name } = large;
    const files = new Map<string, FileHandle>();
    await using _handles = {
      [Symbol.asyncDispose]: async () => {
        for (const handle of files.values()) await handle.close();
      },
    };
    for (const file of filesOf(name)) {
      const handle = await openIfThere(this.#path(file), 'r+');
      if (handle !== undefined) files.set(file, handle);
    }
    const body = files.get(name)?.createReadStream({ start: 0, autoClose: false });
    assertBody(await digestOfFile(body ?? Readable.from([])), large);
    await placeUpload(this.#paths, this.#spools.threads, files);
  }

  async discard(name: string): Promise<void> {
    for (const file of filesOf(name)) await rm(this.#path(file), { force: true });
  }

  async remove(name: string): Promise<void> {
    await discardUpload(this.#paths, name);
  }

  #path(file: string): string {
    return join(this.#paths.incoming, file);
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await handle.write(bytes, at, bytes.length - at, offset + at)).bytesWritten;
}

async function openIfThere(path: string, flags: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
