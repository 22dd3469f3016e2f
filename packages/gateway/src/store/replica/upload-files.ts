/** The files of a replica's uploads: those that its visitors send, and those that come from the stream. */
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';

import { GatewayError } from '@open-presence/protocol';

import { BodyDigest, type LargeBody } from '../../log/packed-drafts.ts';
import type { UploadChunk, UploadFiles } from '../../log/replica.ts';
import type { DataPaths } from '../data-paths.ts';
import { FileSpool, Spools } from '../large/file-spool.ts';
import {
  assertBody,
  digestOfFile,
  discardUpload,
  finalPath,
  openUpload,
  placeUpload,
  uploadPath,
} from '../large/large-files.ts';
import type { SharedState } from '../shared-state.ts';
import { isMissing } from '../checked-file.ts';

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
    const body = new BodyDigest();
    const handle = await openIfThere(finalPath(this.#paths, large.name), 'r');
    if (handle !== undefined) {
      await using _file = handle;
      for (let offset = 0; ;) {
        const buffer = Buffer.allocUnsafeSlow(size);
        const { bytesRead } = await handle.read(buffer, { position: offset });
        if (bytesRead === 0) break;
        const bytes = buffer.subarray(0, bytesRead);
        body.add(bytes);
        yield { offset, bytes };
        offset += bytesRead;
      }
    }
    assertBody(body, large);
  }

  async write(name: string, { offset, bytes }: UploadChunk): Promise<void> {
    await using handle = await openUpload(
      this.#paths,
      name,
      constants.O_WRONLY | constants.O_CREAT,
    );
    await this.#spools.threads.run(() => writeAll(handle, bytes, offset));
  }

  async place(large: LargeBody): Promise<void> {
    const { name } = large;
    await using handle = await openIfThere(uploadPath(this.#paths, name), 'r+');
    const body = handle?.createReadStream({ start: 0, autoClose: false });
    assertBody(await digestOfFile(body ?? Readable.from([])), large);
    if (handle !== undefined)
      await placeUpload(this.#paths, this.#spools.threads, { name, handle });
  }

  async discard(name: string): Promise<void> {
    await rm(uploadPath(this.#paths, name), { force: true });
  }

  async remove(name: string): Promise<void> {
    await discardUpload(this.#paths, name);
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
