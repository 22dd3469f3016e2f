import { createHash, randomUUID, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

import { GatewayError } from '@open-presence/protocol';

import type { Spool } from '../../log/log.ts';
import { collectBuffers } from '../../idle-memory.ts';
import { assertStorageFault, isStorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SharedState } from '../shared-state.ts';
import type { LargeBody } from '../../log/packed-drafts.ts';
import { discardUpload, openUpload, placeUpload } from './large-files.ts';
import { UploadThreads } from './upload-threads.ts';

/** Bytes: a longer flush of one body would delay the flushes of small entries. */
const FLUSH_INTERVAL = 8 * 1024 * 1024;
const BRACE = Buffer.from('}');

/** The spools of a thread. */
export class Spools implements AsyncDisposable {
  readonly paths: DataPaths;
  readonly threads: UploadThreads;
  /** Called with the fault if files of an upload could not be written, without one if they could. */
  readonly onOutcome: (fault?: Error) => void;
  /** To be disposed of when the log closes. */
  readonly open = new Set<FileSpool>();

  constructor(paths: DataPaths, shared: SharedState, onOutcome: (fault?: Error) => void) {
    this.paths = paths;
    this.threads = new UploadThreads(shared);
    this.onOutcome = onOutcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const spool of this.open) await spool[Symbol.asyncDispose]();
  }
}

/** See `FileSpool.seal`. Throws for a spool of another log. */
export async function sealed(spool: Spool): Promise<LargeBody> {
  if (spool instanceof FileSpool) return await spool.seal();
  throw new TypeError('A spool belongs to the log that created it.');
}

/** Writes a body to a file. */
export class FileSpool implements Spool {
  readonly #spools: Spools;
  readonly #paths: DataPaths;
  readonly #threads: UploadThreads;
  readonly #name: string = randomUUID();
  readonly #digest: Hash = createHash('sha256');
  #body: FileHandle | undefined;
  #size = 0;
  #unflushed = 0;
  #sealed = false;

  constructor(spools: Spools) {
    this.#spools = spools;
    this.#paths = spools.paths;
    this.#threads = spools.threads;
    spools.open.add(this);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#digest.update(bytes);
    await this.#writeOrDispose(async () => {
      const file = await this.#bodyFile();
      await file.writeFile(bytes);
      this.#size += bytes.length;
      this.#unflushed += bytes.length;
      if (this.#unflushed < FLUSH_INTERVAL) return;
      this.#unflushed = 0;
      await file.datasync();
      collectBuffers();
    });
  }

  /** Completes the body and gives its file the final name. From then on it belongs to the writer. */
  async seal(): Promise<LargeBody> {
    const digest = this.#digest.digest('hex');
    await this.#orDispose(async () => {
      await this.#threads.run(async () => (await this.#bodyFile()).writeFile(BRACE));
      await placeUpload(this.#paths, this.#threads, {
        name: this.#name,
        handle: await this.#bodyFile(),
      });
      await this.#close();
    });
    this.#sealed = true;
    this.#spools.onOutcome();
    return { name: this.#name, size: this.#size + BRACE.length, digest };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#sealed) return;
    this.#sealed = true;
    try {
      await this.#close();
      await this.#threads.run(() => discardUpload(this.#paths, this.#name));
    } catch (error) {
      // The next start removes what is left.
      assertStorageFault(error);
      this.#spools.onOutcome(error);
    }
  }

  async #bodyFile(): Promise<FileHandle> {
    this.#body ??= await openUpload(this.#paths, this.#name, 'w');
    return this.#body;
  }

  async #close(): Promise<void> {
    this.#spools.open.delete(this);
    const body = this.#body;
    this.#body = undefined;
    if (body !== undefined) await this.#threads.run(() => body.close());
  }

  async #writeOrDispose(work: () => Promise<void>): Promise<void> {
    await this.#orDispose(() => this.#threads.run(work));
  }

  async #orDispose(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isStorageFault(error)) this.#spools.onOutcome(error);
      await this[Symbol.asyncDispose]();
      assertStorageFault(error);
      const full = 'code' in error && error.code === 'ENOSPC';
      const reason = full ? 'the disk is full' : 'writing to the disk failed';
      const detail = `Cannot store the entry: ${reason}. Try again later.`;
      throw new GatewayError(full ? 'out-of-space' : 'unavailable', detail);
    }
  }
}
