/**
 * Sends a response to a caller who may not read it before it has sent its whole request. What the caller does
 * not take waits in a temporary file.
 */
import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

import { assertStorageFault } from '../../storage-fault.ts';
import { openTemporaryFile } from '../temporary-file.ts';
import { drained } from './response-writer.ts';

/** Bytes that wait in memory. */
const MAX_IN_MEMORY = 256 * 1024;
/** Bytes that the file has at most, but for one write. */
const MAX_IN_FILE = 2 ** 30;
const READ_SIZE = 64 * 1024;

export class SpillingWriter implements AsyncDisposable {
  readonly #response: ServerResponse;
  readonly #folder: string;
  readonly #memory: Buffer[] = [];
  #memorySize = 0;
  /** Has what comes after `#memory`, from `#fileStart` to `#fileEnd`. */
  #file: FileHandle | undefined;
  #fileStart = 0;
  #fileEnd = 0;
  #sending: Promise<void> | undefined;
  /** Whether nothing is sent before the end, as far as the file takes it. */
  #isHeld: boolean;

  /** `folder`: of the temporary file. `held`: send nothing before the end, or before a gigabyte. */
  constructor(response: ServerResponse, folder: string, held = false) {
    this.#response = response;
    this.#folder = folder;
    this.#isHeld = held;
  }

  /** Resolves when more may be written. One call at a time. */
  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    if (this.#fileEnd > MAX_IN_FILE) await this.#release();
    const fits = this.#fileStart === this.#fileEnd && this.#memorySize < MAX_IN_MEMORY;
    if (!fits && (await this.#spill(bytes))) return;
    // Without a file, the caller has to read on first.
    if (!fits) await this.#release();
    this.#memory.push(bytes);
    this.#memorySize += bytes.length;
    if (!this.#isHeld) this.#sending ??= this.#send();
  }

  /** Resolves when everything was handed to the response, which ends then. */
  async end(): Promise<void> {
    await this.#release();
    this.#response.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sending;
    await this.#file?.close();
  }

  /** Whether the bytes could be written to the file. */
  async #spill(bytes: Buffer): Promise<boolean> {
    try {
      this.#file ??= await openTemporaryFile(this.#folder);
      if (this.#fileStart === this.#fileEnd) this.#fileStart = this.#fileEnd = 0;
      const { bytesWritten } = await this.#file.write(bytes, 0, bytes.length, this.#fileEnd);
      if (bytesWritten < bytes.length) return false;
    } catch (error) {
      assertStorageFault(error);
      return false;
    }
    this.#fileEnd += bytes.length;
    if (!this.#isHeld) this.#sending ??= this.#send();
    return true;
  }

  /** Resolves after everything so far was handed to the response. Nothing is held any more. */
  async #release(): Promise<void> {
    this.#isHeld = false;
    this.#sending ??= this.#send();
    await this.#sending;
  }

  async #send(): Promise<void> {
    for (;;) {
      const inMemory = this.#memory.shift();
      this.#memorySize -= inMemory?.length ?? 0;
      const bytes = inMemory ?? (await this.#readFile());
      if (bytes === undefined || this.#response.destroyed) break;
      if (!this.#response.write(bytes)) await drained(this.#response, this.#response);
    }
    this.#sending = undefined;
  }

  async #readFile(): Promise<Buffer | undefined> {
    if (this.#file === undefined || this.#fileStart === this.#fileEnd) return undefined;
    const bytes = Buffer.allocUnsafeSlow(Math.min(READ_SIZE, this.#fileEnd - this.#fileStart));
    try {
      const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, this.#fileStart);
      this.#fileStart += bytesRead;
      return bytes.subarray(0, bytesRead);
    } catch (error) {
      assertStorageFault(error);
      // Cut off, so that nobody takes the response for complete.
      this.#response.destroy();
      return undefined;
    }
  }
}
