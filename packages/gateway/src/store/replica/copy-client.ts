/** Sends copies of entries of another gateway to the writer's thread. */
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';

import type { CopyResult, EntryCopy, LogCopier, WithholdingCopy } from '../../log/log-copier.ts';
import type { Seq, Spool } from '../../log/log.ts';
import { readable, openForReading } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { ThreadCaller } from '../../thread-call.ts';
import type { SharedState } from '../shared-state.ts';
import { RowReader } from '../log/row-reader.ts';
import { CopyBatch } from './copy-batch.ts';
import { FileSpool, sealed, Spools } from '../large/file-spool.ts';
import { withholdEntries } from '../withholding/withhold-client.ts';
import type { CasesToList, WriterCalls } from '../writer/writer-calls.ts';

export class CopyClient implements LogCopier, AsyncDisposable {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #port: MessagePort;
  readonly #calls: ThreadCaller<WriterCalls>;
  readonly #db: DatabaseSync;
  readonly #log: RowReader;
  readonly #spools: Spools;
  readonly #free: ArrayBuffer[] = [];
  #next = new CopyBatch();

  constructor(paths: DataPaths, shared: SharedState, port: MessagePort) {
    this.#paths = paths;
    this.#shared = shared;
    this.#port = port;
    this.#db = openForReading(paths.log);
    this.#log = new RowReader(this.#db);
    this.#spools = new Spools(paths, shared, () => {});
    this.#calls = new ThreadCaller(port);
  }

  head(): Seq {
    return this.#shared.head;
  }

  linkAt(seq: Seq): string | undefined {
    return readable(() => this.#log.linkAt(seq));
  }

  isWithheld(seq: Seq): boolean {
    return readable(() => this.#log.entry(seq))?.withheld !== undefined;
  }

  spool(): Spool {
    return new FileSpool(this.#spools);
  }

  get pending(): number {
    return this.#next.size;
  }

  add(copy: EntryCopy): void | Promise<void> {
    const { body } = copy;
    if (body instanceof Uint8Array) this.#next.add(copy, body);
    else return this.#addLarge(copy, body);
  }

  async commit(): Promise<CopyResult> {
    const { memory, size } = this.#next;
    this.#next = new CopyBatch(this.#free.pop());
    const response = await this.#calls.call('copy', { copies: memory, size }, [memory]);
    if (response === undefined) return { outcome: 'failed', code: 'unavailable' };
    this.#free.push(response.copies);
    return response.result;
  }

  async withhold(withholdings: readonly WithholdingCopy[]): Promise<void> {
    const stored = { paths: this.#paths, log: this.#log };
    await withholdEntries(joined(withholdings), stored, (all) => this.#calls.call('withhold', all));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#calls.close();
    await this.#spools[Symbol.asyncDispose]();
    this.#port.close();
    this.#db.close();
  }

  async #addLarge(copy: EntryCopy, body: Spool): Promise<void> {
    this.#next.add(copy, await sealed(body));
  }
}

/** Consecutive ones that are alike, together. An entry may come again. */
function joined(withholdings: readonly WithholdingCopy[]): Omit<CasesToList, 'digests'>[] {
  const all: (Omit<CasesToList, 'digests' | 'seqs'> & { readonly seqs: Seq[] })[] = [];
  let last = '';
  for (const { seq, ...one } of withholdings) {
    const what = JSON.stringify(one);
    if (what !== last) all.push({ ...one, seqs: [] });
    all.at(-1)?.seqs.push(seq);
    last = what;
  }
  return all.map((one) => ({ ...one, seqs: [...new Set(one.seqs)] }));
}
