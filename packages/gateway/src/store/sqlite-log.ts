/** The log as one thread uses it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

import { entryId, GatewayError } from '@open-presence/protocol';

import type {
  AppendOutcome,
  AppendRefusal,
  AppendResult,
  Draft,
  Log,
  Seq,
  SmallAppendResult,
  SmallDraft,
  WithholdingState,
  Spool,
} from '../log/log.ts';
import {
  type AppendRequest,
  type AppendResponse,
  packDrafts,
  type PackedDraft,
  unpackResult,
  type UploadReport,
  type WriteResult,
} from '../log/packed-drafts.ts';
import { causeOf, type FaultCause } from '../storage-fault.ts';
import { ThreadCaller } from '../thread-call.ts';
import type { DataPaths } from './data-paths.ts';
import { ReadOnlySwitch } from './read-only.ts';
import { FileSpool, sealed, Spools } from './large/file-spool.ts';
import { LogReader } from './reader.ts';
import { HeadWatchers, SharedState } from './shared-state.ts';
import { withholdEntries } from './withholding/withhold-client.ts';
import type { AppendThreadCalls } from './writer/writer-calls.ts';

/** What a thread needs to join the log. Transfer its ports along with it. */
export interface SqliteConnection {
  readonly paths: DataPaths;
  readonly shared: SharedArrayBuffer;
  readonly writer: MessagePort;
  readonly index: MessagePort;
  /** Whether others append to the log too, so that this copy of it may be behind. */
  readonly isShared: boolean;
}

/** How often it is looked whether reads have what is decided to be withheld. */
const WITHHOLDING_INTERVAL_MS = 5;
const NO_BODY = new Uint8Array(0);
const UNKNOWN =
  'Cannot answer this request now: it names an entry that this gateway does not have, and the gateway cannot learn now whether another gateway of its cluster has stored it. Try again in a moment, or at another gateway.';
const NOT_SWITCHED =
  'Cannot switch this for the cluster now: its servers did not confirm it. Try again once most of them run.';
const CONFLICT = { outcome: 'conflict' } as const;

export class SqliteLog extends LogReader implements Log {
  readonly #paths: DataPaths;
  readonly #writer: AppendClient;
  readonly #calls: ThreadCaller<AppendThreadCalls>;
  protected readonly isShared: boolean;
  readonly #readOnly: ReadOnlySwitch;
  readonly #watchers: HeadWatchers;
  readonly #spools: Spools;
  #closing: Promise<void> | undefined;

  constructor({ paths, shared, writer, index, isShared }: SqliteConnection) {
    super(paths, new SharedState(shared), index);
    this.#paths = paths;
    this.#readOnly = new ReadOnlySwitch(paths, this.shared);
    this.#watchers = new HeadWatchers(this.shared);
    this.#writer = new AppendClient(writer);
    this.#spools = new Spools(paths, this.shared, (fault) =>
      this.#writer.reportUpload(fault && causeOf(fault)),
    );
    this.#calls = new ThreadCaller(writer);
    this.isShared = isShared;
  }

  readOnly(): string | undefined {
    return this.#readOnly.reason;
  }

  async setReadOnly(reason: string | undefined): Promise<void> {
    if (!this.isShared) this.#readOnly.set(reason);
    else if ((await this.#calls.call('setReadOnly', reason)) !== true)
      throw new GatewayError('unavailable', NOT_SWITCHED);
  }

  spool(): Spool {
    return new FileSpool(this.#spools);
  }

  async append(draft: Draft): Promise<AppendResult> {
    const refused = this.#refusal();
    const { kind, room, facets, key, portability = 'exact', body } = draft;
    if (refused !== undefined) {
      if (body instanceof FileSpool) await body[Symbol.asyncDispose]();
      return refused;
    }
    const packed = { kind, room, facets, key, portability };
    if (body instanceof Uint8Array)
      return await this.#append({ ...packed, body, large: undefined });
    const large = await sealed(body);
    return await this.#append({ ...packed, body: NO_BODY, large });
  }

  appendSmall(
    { kind, room, facets, key, portability = 'exact', body }: SmallDraft,
    onResult: (result: SmallAppendResult) => void,
  ): void {
    const refused = this.#refusal();
    if (refused !== undefined) {
      onResult(refused);
      return;
    }
    const draft = { kind, room, facets, key, portability, body, large: undefined };
    this.#writer.append(draft, (result) => {
      onResult(result.outcome === 'conflict' ? CONFLICT : outcomeOf(draft, result));
    });
  }

  async withhold(
    seqs: readonly Seq[],
    reason: string,
    state: WithholdingState = 'withheld',
  ): Promise<number> {
    this.#writer.flush();
    const cases = { seqs: [...new Set(seqs)], reason, state, time: undefined };
    // Each copy of a cluster's log knows the digests by itself.
    const stored = this.isShared ? undefined : { paths: this.#paths, log: this.rows };
    return await withholdEntries([cases], stored, (all) => this.#calls.call('withhold', all));
  }

  async caughtUp(): Promise<void> {
    if (!this.isShared) return;
    if ((await this.#calls.call('catchUp', undefined)) !== true)
      throw new GatewayError('unavailable', UNKNOWN);
    while (!this.hasAllWithheld() && this.shared.writable && this.#closing === undefined)
      await sleep(WITHHOLDING_INTERVAL_MS);
  }

  watch(onMove: () => void): Disposable {
    return this.#watchers.add(onMove);
  }

  /** Stores what was appended before, then closes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  #refusal(): AppendRefusal | undefined {
    const { reason } = this.#readOnly;
    if (reason !== undefined) return { outcome: 'refused', code: 'unavailable', reason };
    return this.#closing && { outcome: 'refused', code: 'unavailable' };
  }

  async #append(draft: PackedDraft): Promise<AppendResult> {
    const result = await new Promise<WriteResult>((resolve) => this.#writer.append(draft, resolve));
    if (result.outcome !== 'conflict') return outcomeOf(draft, result);
    const { outcome, seq } = result;
    const entry = await this.entry(seq);
    if (entry === undefined) throw new Error(`The entry ${seq} of a key is missing.`);
    return { outcome, metadata: entry.metadata };
  }

  async #close(): Promise<void> {
    this.#writer.flush();
    await this.#spools[Symbol.asyncDispose]();
    await this.#writer.drain();
    this.#calls.close();
    this.#watchers[Symbol.dispose]();
    this.#writer.close();
    await this.closeReader();
  }
}

/** Not for conflicts. A repeated entry has the kind and the room of its draft. */
function outcomeOf(
  { kind, room }: PackedDraft,
  { outcome, seq, time, salt }: WriteResult,
): AppendOutcome {
  if (outcome === 'out-of-space' || outcome === 'unavailable')
    return { outcome: 'refused', code: outcome };
  if (outcome === 'conflict') throw new Error('The result of a conflict has no metadata.');
  return { outcome, metadata: { seq, id: entryId(time, seq, salt), kind, room, time } };
}

interface PendingAppend {
  readonly draft: PackedDraft;
  readonly onResult: (result: WriteResult) => void;
}

const MAX_BATCH = 32;

class AppendClient {
  readonly #port: MessagePort;
  #gathered: PendingAppend[] = [];
  #batch = 0;
  readonly #inFlight = new Map<number, readonly PendingAppend[]>();
  /** The code of the cause for which uploads fail in this thread. */
  #uploadFault: string | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: AppendResponse | object) => {
      if (!('results' in message)) return;
      const { batches, results } = message;
      let index = 0;
      for (const batch of batches) {
        const pending = this.#inFlight.get(batch) ?? [];
        this.#inFlight.delete(batch);
        for (const { onResult } of pending) onResult(unpackResult(results, index++));
      }
    });
  }

  append(draft: PackedDraft, onResult: (result: WriteResult) => void): void {
    // Drafts of one turn of the event loop are sent together, or earlier if the writer has enough to start.
    if (this.#gathered.length === 0) setImmediate(() => this.flush());
    this.#gathered.push({ draft, onResult });
    if (this.#gathered.length >= MAX_BATCH) this.flush();
  }

  /** Reports why an upload could not be written, or that one could. */
  reportUpload(uploadFault: FaultCause | undefined): void {
    if (uploadFault?.code === this.#uploadFault) return;
    this.#uploadFault = uploadFault?.code;
    this.#port.postMessage({ uploadFault } satisfies UploadReport);
  }

  flush(): void {
    const pending = this.#gathered;
    if (pending.length === 0) return;
    this.#gathered = [];
    this.#batch += 1;
    this.#inFlight.set(this.#batch, pending);
    const drafts = packDrafts(pending.map(({ draft }) => draft));
    this.#port.postMessage({ batch: this.#batch, drafts } satisfies AppendRequest, [drafts]);
  }

  /** Resolves when the results of what was sent have arrived. */
  async drain(): Promise<void> {
    while (this.#inFlight.size > 0) await sleep(1);
  }

  close(): void {
    this.#port.close();
  }
}
