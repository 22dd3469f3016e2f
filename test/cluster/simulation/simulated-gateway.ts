/**
 * A gateway of the simulated cluster: its own code for publishing, applying and storing, without
 * threads, servers and doors. A crash leaves what is in its folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { InlineDraft } from '../../../packages/gateway/src/log/log.fixture.ts';
import {
  Applier,
  type FromWriter,
  type WriterPort,
} from '../../../packages/gateway/src/stores/jetstream/applier.ts';
import {
  type ClientPort,
  DraftPublisher,
} from '../../../packages/gateway/src/stores/jetstream/draft-publisher.ts';
import { unpackMessage } from '../../../packages/gateway/src/stores/jetstream/message.ts';
import {
  Publisher,
  type StreamClient,
} from '../../../packages/gateway/src/stores/jetstream/publisher.ts';
import { dataPathsIn } from '../../../packages/gateway/src/stores/sqlite/data-paths.ts';
import { openForReading } from '../../../packages/gateway/src/stores/sqlite/database.ts';
import {
  packDrafts,
  packResults,
  unpackDrafts,
  unpackResult,
  type WriteResult,
} from '../../../packages/gateway/src/stores/sqlite/log/batch.ts';
import { BlockReader } from '../../../packages/gateway/src/stores/sqlite/log/block-reader.ts';
import type {
  ApplyRequest,
  UnpackedBatch,
} from '../../../packages/gateway/src/stores/sqlite/log/ordered-batch.ts';
import { readStreamPosition } from '../../../packages/gateway/src/stores/sqlite/log/stream-progress.ts';
import { Writer } from '../../../packages/gateway/src/stores/sqlite/log/writer.ts';
import { SharedState } from '../../../packages/gateway/src/stores/sqlite/shared-state.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { SimulatedStream, StoredMessage } from './simulated-stream.ts';

/** What a broken gateway would do. */
export const FAULTS = [
  'applies repeats',
  'forgets its position',
  'skips a message',
  'swaps messages',
  'takes its own clock',
  'draws its own salts',
  'applies void messages',
  'remembers publishers for ever',
] as const;
export type Fault = (typeof FAULTS)[number];

/** An entry as this copy has it. */
export interface StoredEntry {
  readonly text: string;
  readonly link: string;
}

/** Between two steps of a gateway. */
const MAX_PAUSE_MS = 30;

export class SimulatedGateway {
  readonly #folder: string;
  readonly #stream: SimulatedStream;
  readonly #random: SeededRandom;
  readonly #fault: Fault | undefined;
  #run: Run | undefined;

  constructor(
    folder: string,
    stream: SimulatedStream,
    random: SeededRandom,
    fault: Fault | undefined,
  ) {
    this.#folder = folder;
    this.#stream = stream;
    this.#random = random;
    this.#fault = fault;
    const paths = dataPathsIn(folder);
    mkdirSync(paths.incoming, { recursive: true });
    writeFileSync(paths.lock, '');
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Whether it has been given everything that the stream has. */
  get hasAll(): boolean {
    return this.#run !== undefined && this.#run.next > this.#stream.messages.length;
  }

  /** Whether it has been given all messages, and has answered all its clients. */
  get isIdle(): boolean {
    return this.hasAll && this.#run?.isIdle === true;
  }

  start(): void {
    if (this.#fault === 'forgets its position')
      this.#change("DELETE FROM meta WHERE name = 'stream' OR name LIKE 'publisher %'");
    if (this.#fault === 'remembers publishers for ever')
      this.#change(
        "UPDATE meta SET value = json_set(value, '$.last', 9e15) WHERE name LIKE 'publisher %'",
      );
    this.#run = new Run(this.#folder, this.#stream, this.#random, this.#fault);
    if (this.#fault === 'skips a message' && this.#run.next > 1) this.#run.next += 1;
  }

  crash(): void {
    this.#run?.end();
    this.#run = undefined;
  }

  /** `onResult`: never called if the gateway crashes first. */
  append(draft: InlineDraft, onResult: (result: WriteResult) => void): void {
    this.#run?.append(draft, onResult);
  }

  /** Gives it the next message of the stream, if there is one. */
  deliver(): void {
    const run = this.#run;
    const message = run && this.#stream.messages[run.next - 1];
    if (run === undefined || message === undefined) return;
    const following = this.#stream.messages[run.next];
    if (this.#fault === 'swaps messages' && following !== undefined) {
      run.next += 2;
      run.receive(following);
      run.receive(message);
      return;
    }
    run.next += 1;
    run.receive(message);
    // A reader that has lost its connection may be given some again.
    if (this.#random.chance(0.1)) run.receive(message);
  }

  entries(): StoredEntry[] {
    using db = openForReading(dataPathsIn(this.#folder).log);
    const reader = new BlockReader(db);
    return Array.from({ length: reader.lastSeq() }, (_, index) => {
      const entry = reader.entry(index + 1);
      return { text: entry?.text.toString() ?? '', link: entry?.link.toString('hex') ?? '' };
    });
  }

  /** The ids of those that it remembers, sorted. */
  publishers(): string[] {
    using db = openForReading(dataPathsIn(this.#folder).log);
    const rows = db
      .prepare("SELECT name FROM meta WHERE name LIKE 'publisher %' ORDER BY name")
      .all();
    return rows.map(({ name }) => String(name).slice('publisher '.length));
  }

  #change(statement: string): void {
    using db = new DatabaseSync(dataPathsIn(this.#folder).log);
    const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
    if (hasTable !== undefined) db.exec(statement);
  }
}

/** From a start to a crash. */
class Run {
  /** The message that it reads next. */
  next: number;
  readonly #random: SeededRandom;
  readonly #fault: Fault | undefined;
  readonly #writer: Writer;
  readonly #publisher: Publisher;
  readonly #drafts: DraftPublisher;
  readonly #applier: Applier;
  #respond: (response: FromWriter) => void = () => {};
  #appended = 0;
  #answered = 0;
  #isEnded = false;

  constructor(
    folder: string,
    stream: SimulatedStream,
    random: SeededRandom,
    fault: Fault | undefined,
  ) {
    this.#random = random;
    this.#fault = fault;
    const paths = dataPathsIn(folder);
    this.#writer = new Writer(paths, new SharedState());
    using db = openForReading(paths.log);
    this.next = readStreamPosition(db)?.resumeAt ?? 1;
    const client: StreamClient = {
      publish: (_subject, data, { msgID }) => stream.publish(msgID, data),
    };
    this.#publisher = new Publisher(
      // There are no uploads.
      '00'.repeat(8),
      Promise.resolve(client),
      'simulated.log',
      () => {},
    );
    this.#drafts = new DraftPublisher(this.#publisher, {
      // All drafts are small.
      spool: () => Promise.reject(new Error('There are no uploads.')),
      send: async () => {},
      discard: () => {},
    });
    const port: WriterPort = {
      postMessage: (request) => {
        if ('apply' in request) void this.#apply(request);
      },
      on: (_event, listener) => {
        this.#respond = listener;
      },
    };
    this.#applier = new Applier(port, {
      resumeAt: (position) => position + 1,
      onApplied: (batch, results) => {
        if (batch.publisher === this.#publisher.id) this.#drafts.applied(batch.number, results);
      },
      onFailed: () => {},
      onErased: () => {},
    });
  }

  get isIdle(): boolean {
    return this.#publisher.inFlight === 0 && this.#answered === this.#appended;
  }

  append(draft: InlineDraft, onResult: (result: WriteResult) => void): void {
    this.#appended += 1;
    const client: ClientPort = {
      postMessage: ({ results }) => {
        if (this.#isEnded) return;
        this.#answered += 1;
        onResult(unpackResult(results, 0));
      },
    };
    const drafts = packDrafts([{ ...draft, key: draft.key, large: undefined }]);
    this.#drafts.add(client, { batch: this.#appended, drafts });
  }

  receive({ position, time, data }: StoredMessage): void {
    const { publisher, number, settled, sent, nonce, payload } = unpackMessage(data);
    if (publisher === this.#publisher.id) this.#publisher.settle(number);
    const drafts = new Uint8Array(payload).buffer;
    void this.#applier.add({ position, time, nonce, publisher, number, settled, sent, drafts });
  }

  end(): void {
    this.#isEnded = true;
    this.#publisher.close();
    this.#writer.close();
  }

  /** As the writer's thread does it. A crash may come before it, or before its answer. */
  async #apply({ apply, resumeAt }: ApplyRequest): Promise<void> {
    await sleep(this.#random.below(MAX_PAUSE_MS));
    if (this.#isEnded) return;
    const unpacked = apply.map((batch) =>
      changed({ ...batch, drafts: unpackDrafts(batch.drafts) }, this.#fault),
    );
    const results = this.#random.chance(0.05)
      ? 'unavailable'
      : this.#writer.apply(unpacked, resumeAt);
    await sleep(this.#random.below(MAX_PAUSE_MS));
    if (this.#isEnded) return;
    const applied =
      typeof results === 'string' ? results : results.map((each) => each && packResults(each));
    this.#respond({ applied });
  }
}

function changed(batch: UnpackedBatch, fault: Fault | undefined): UnpackedBatch {
  if (fault === 'applies repeats') return { ...batch, number: batch.position, settled: 0 };
  if (fault === 'takes its own clock') return { ...batch, time: batch.time + 1 };
  if (fault === 'applies void messages') return { ...batch, sent: batch.time };
  if (fault === 'draws its own salts') return { ...batch, nonce: new Uint8Array(32) };
  return batch;
}
