/** The store as the replica of a log that a stream orders: see `log/replica.ts`. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';

import type { ApplyRequest, ApplyResponse } from '../../log/ordered-batch.ts';
import type {
  ErasedMessages,
  LogFormat,
  Replica,
  ReplicaPart,
  ReplicaReader,
  ReplicaState,
  UploadFiles,
} from '../../log/replica.ts';
import { threadFacet } from '../../log/thread.ts';
import { causeOf, isStorageFault } from '../../storage-fault.ts';
import { type CallPort, ThreadCaller } from '../../thread-call.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled, openForReading, readable } from '../database.ts';
import { RowReader } from '../log/row-reader.ts';
import { ReadOnlySwitch } from '../read-only.ts';
import { bodySalt, digestOf, idSalt, keyColumn, keySalt, saltsOf, sha256 } from '../log/chain.ts';
import {
  readErasures,
  readRepeats,
  readUnusedUploads,
  unusedUploadNames,
} from './stream-messages.ts';
import { withheldLookup } from '../withholding/withheld-table.ts';
import { withDigests } from '../withholding/withhold-client.ts';
import type { WriterCalls } from '../writer/writer-calls.ts';
import type { StoreThread } from '../store-thread.ts';
import { SqliteUploadFiles } from './upload-files.ts';

type ThreadOfReplica = Pick<
  StoreThread,
  'paths' | 'shared' | 'signal' | 'stopping' | 'report' | 'repeat'
>;

export class SqliteReplica implements Replica {
  readonly identity: string;
  readonly state: ReplicaState;
  readonly signal: AbortSignal;
  readonly stopping: AbortSignal;
  readonly uploads: UploadFiles;
  readonly format: LogFormat = LOG_FORMAT;
  readonly #thread: ThreadOfReplica;
  readonly #calls: ThreadCaller<WriterCalls>;
  readonly #readOnly: ReadOnlySwitch;

  constructor(thread: ThreadOfReplica, writer: CallPort<WriterCalls>) {
    const { paths, shared, signal, stopping } = thread;
    this.identity = gatewayIdentity(paths);
    this.state = shared;
    this.signal = signal;
    this.stopping = stopping;
    this.uploads = new SqliteUploadFiles(paths, shared, (fault) => this.report('uploads', fault));
    this.#thread = thread;
    this.#calls = new ThreadCaller(writer);
    this.#readOnly = new ReadOnlySwitch(paths, shared);
  }

  reader(): ReplicaReader & Disposable {
    const db = openForReading(this.#thread.paths.log, 256);
    const log = new RowReader(db);
    return {
      linkAt: (seq) => (seq === 0 ? undefined : unlessFault(() => log.linkAt(seq))),
      erasures: (after, limit) => readErasures(db, after, limit),
      unusedUploads: (after, limit) => readUnusedUploads(db, after, limit),
      unusedUploadNames: () => unusedUploadNames(db),
      repeats: (position) => readRepeats(db, position),
      withheld: withheldDrafts(db, log),
      hasUpload: (name) => db.prepare('SELECT 1 FROM large WHERE name = ?').get(name) !== undefined,
      [Symbol.dispose]: () => db.close(),
    };
  }

  async apply(request: ApplyRequest): Promise<ApplyResponse['applied']> {
    return (await this.#calls.call('apply', request)) ?? 'unavailable';
  }

  async withhold(all: Parameters<Replica['withhold']>[0]): ReturnType<Replica['withhold']> {
    const { paths } = this.#thread;
    using db = openForReading(paths.log, 256);
    const cases = await withDigests(all, { paths, log: new RowReader(db) });
    const decision = await this.#calls.call('decide', cases);
    return typeof decision === 'number' ? { erased: this.#erased(decision) } : undefined;
  }

  async #erased(decision: number): Promise<number> {
    return (await this.#calls.call('erased', decision)) ?? 0;
  }

  erasedInStream(erased: ErasedMessages): void {
    void this.#calls.call('erasedInStream', erased);
  }

  setReadOnly(reason: string | undefined): void {
    if (reason !== this.#readOnly.reason) this.#readOnly.set(reason);
  }

  report(part: ReplicaPart, fault: Error | undefined): void {
    this.#thread.report(part, fault && causeOf(fault));
  }

  async repeat(part: ReplicaPart, step: () => Promise<void>): Promise<void> {
    await this.#thread.repeat(step, (fault) => this.report(part, fault));
  }
}

export const LOG_FORMAT: LogFormat = {
  saltsOf,
  withheldForm({ key, body, large }, salts, { time, reason }) {
    const hash = large === undefined ? sha256(body) : Buffer.from(large.digest, 'hex');
    return {
      time,
      reason,
      idSalt: idSalt(salts),
      digest: digestOf(bodySalt(salts), hash),
      key: key && keyColumn(keySalt(salts), key),
      upload: large?.name,
    };
  },
};

/** Erases the drafts of withheld entries. Hidden entries keep theirs. */
export function withheldDrafts(db: DatabaseSync, log: RowReader): ReplicaReader['withheld'] {
  const lookup = withheldLookup(db);
  return (seq) => {
    const row = lookup(seq);
    if (row?.state !== 'withheld') return undefined;
    const { thread = seq } = readable(() => log.stored(seq)) ?? {};
    const facets = thread === seq ? new Uint8Array(0) : threadFacet(thread);
    return { ...row, facets };
  };
}

/** Undefined where it cannot be read now. */
function unlessFault(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error) || isStorageFault(error)) return undefined;
    throw error;
  }
}

/** Changes at each start if the file system does not record when a file was made. */
function gatewayIdentity({ folder, lock }: DataPaths): string {
  // The first start makes the file. In a copy of the folder, it has another inode and another time.
  const { ino, birthtimeNs } = statSync(lock, { bigint: true });
  const text = `${hostname()} ${folder} ${ino} ${birthtimeNs}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
