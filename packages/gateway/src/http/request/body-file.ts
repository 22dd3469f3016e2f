/** A body in a temporary file, to be read again in any order and in flat memory. */
import type { FileHandle } from 'node:fs/promises';

import { GatewayError } from '@open-presence/protocol';

import { assertStorageFault } from '../../storage-fault.ts';
import { openTemporaryFile } from '../temporary-file.ts';

const READ_SIZE = 64 * 1024;

/** Offsets in bytes; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Disposing of it makes reads that are still in progress fail. */
export class BodyFile implements AsyncDisposable {
  readonly #file: FileHandle;
  #size = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Throws `out-of-space` or `unavailable`, as all methods do. */
  static async create(folder: string): Promise<BodyFile> {
    return new BodyFile(await orStorageError(openTemporaryFile(folder)));
  }

  get size(): number {
    return this.#size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await orStorageError(this.#file.writeFile(bytes));
    this.#size += bytes.length;
  }

  async read({ start, end }: ByteRange): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(end - start);
    for (let length = 0; length < bytes.length;) {
      const { bytesRead } = await orStorageError(
        this.#file.read(bytes, length, bytes.length - length, start + length),
      );
      if (bytesRead === 0) throw unreadable('it is shorter than it was');
      length += bytesRead;
    }
    return bytes;
  }

  async *chunks({ start, end }: ByteRange): AsyncGenerator<Buffer, void, undefined> {
    for (let at = start; at < end; at += READ_SIZE) {
      yield await this.read({ start: at, end: Math.min(end, at + READ_SIZE) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

async function orStorageError<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    assertStorageFault(error);
    if ('code' in error && error.code === 'ENOSPC') throw new GatewayError('out-of-space', FULL);
    throw unreadable(error.message);
  }
}

function unreadable(reason: string): GatewayError {
  return new GatewayError(
    'unavailable',
    `Cannot read the message: its temporary file fails (${reason}). Try again later.`,
  );
}

const FULL =
  'Cannot read the message: it is read by way of a file, and the disk is full. Try again later.';
