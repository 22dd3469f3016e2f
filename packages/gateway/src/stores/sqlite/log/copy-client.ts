/** Sends copies of entries of another gateway to the writer's thread. */
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';

import type { CopyResult, EntryCopy, LogCopier, WithholdingCopy } from '../../../log/log-copier.ts';
import type { Seq, Spool } from '../../../log/log.ts';
import { isSpoiled, openForReading } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SharedState } from '../shared-state.ts';
import { BlockReader } from './block-reader.ts';
import { CopyBatch, type CopyRequest, type CopyResponse } from './copy-batch.ts';
import { FileSpool } from './file-spool.ts';
import { UploadThreads } from './upload-threads.ts';
import { WithholdClient } from './withhold-client.ts';

export class CopyClient implements LogCopier, AsyncDisposable {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #port: MessagePort;
  readonly #db: DatabaseSync;
  readonly #log: BlockReader;
  readonly #uploadThreads: UploadThreads;
  readonly #withholding: WithholdClient;
  readonly #spools = new Set<FileSpool>();
  readonly #inFlight = new Map<number, (result: CopyResult) => void>();
  /** Buffers of batches that are stored. */
  readonly #free: ArrayBuffer[] = [];
  #next = new CopyBatch();
  #batch = 0;

  constructor(paths: DataPaths, shared: SharedState, port: MessagePort) {
    this.#paths = paths;
    this.#shared = shared;
    this.#port = port;
    this.#db = openForReading(paths.log);
    this.#log = new BlockReader(this.#db, () => shared.withheldInLog);
    this.#uploadThreads = new UploadThreads(shared);
    this.#withholding = new WithholdClient(port, paths, this.#log);
    port.on('message', (message: CopyResponse | object) => {
      if (!('copies' in message)) return;
      const { batch, result, copies } = message;
      this.#free.push(copies);
      this.#inFlight.get(batch)?.(result);
      this.#inFlight.delete(batch);
    });
  }

  head(): Seq {
    return this.#shared.head;
  }

  linkAt(seq: Seq): string | undefined {
    try {
      return this.#log.linkAt(seq);
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }

  hasLink(seq: Seq, link: string): boolean | undefined {
    try {
      return this.#log.entry(seq)?.link.equals(Buffer.from(link, 'hex'));
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }

  spool(): Spool {
    return new FileSpool(this.#paths, this.#uploadThreads, this.#spools, () => {});
  }

  get pending(): number {
    return this.#next.size;
  }

  add(copy: EntryCopy): void | Promise<void> {
    const { body } = copy;
    if (body instanceof Uint8Array) this.#next.add(copy, body);
    else return this.#addLarge(copy, body);
  }

  commit(): Promise<CopyResult> {
    const { memory, size } = this.#next;
    this.#next = new CopyBatch(this.#free.pop());
    this.#batch += 1;
    const { promise, resolve } = Promise.withResolvers<CopyResult>();
    this.#inFlight.set(this.#batch, resolve);
    const request = { batch: this.#batch, copies: memory, size } satisfies CopyRequest;
    this.#port.postMessage(request, [memory]);
    return promise;
  }

  async withhold(withholdings: readonly WithholdingCopy[]): Promise<void> {
    await this.#withholding.withhold(withholdings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#withholding.close();
    for (const spool of this.#spools) await spool[Symbol.asyncDispose]();
    this.#port.close();
    this.#db.close();
  }

  async #addLarge(copy: EntryCopy, body: Spool): Promise<void> {
    if (!(body instanceof FileSpool))
      throw new TypeError('A spool belongs to the log that created it.');
    this.#next.add(copy, await body.seal());
  }
}
