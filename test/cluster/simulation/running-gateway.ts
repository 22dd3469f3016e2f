/** A simulated gateway from a start to a crash. */
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { InlineDraft } from '../../../packages/gateway/src/log/log.fixture.ts';
import { Applier } from '../../../packages/cluster/src/applying/applier.ts';
import { DraftPublisher } from '../../../packages/cluster/src/publishing/draft-publisher.ts';
import { placeMessage } from '../../../packages/cluster/src/stream/message.ts';
import { MessageHandler } from '../../../packages/cluster/src/applying/message-handler.ts';
import { Publisher } from '../../../packages/cluster/src/publishing/publisher.ts';
import { ReceivedUploads } from '../../../packages/cluster/src/applying/received-uploads.ts';
import { uploadSending } from '../../../packages/cluster/src/publishing/send-upload.ts';
import { StreamEraser } from '../../../packages/cluster/src/applying/stream-eraser.ts';
import { WithholdingPublisher } from '../../../packages/cluster/src/publishing/withholding-publisher.ts';
import { dataPathsIn } from '../../../packages/gateway/src/store/data-paths.ts';
import { openForReading } from '../../../packages/gateway/src/store/database.ts';
import {
  type AppendingPort,
  packDrafts,
  unpackResult,
  type WriteResult,
} from '../../../packages/gateway/src/log/packed-drafts.ts';
import { RowReader } from '../../../packages/gateway/src/store/log/row-reader.ts';
import { readStreamPosition } from '../../../packages/gateway/src/store/replica/stream-progress.ts';
import { withholdEntries } from '../../../packages/gateway/src/store/withholding/withhold-client.ts';
import { SqliteReplica } from '../../../packages/gateway/src/store/replica/sqlite-replica.ts';
import { SharedState } from '../../../packages/gateway/src/store/shared-state.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { Fault } from './faults.ts';
import { SimulatedWriter } from './simulated-writer.ts';
import {
  SimulatedConnection,
  SimulatedMessages,
  type SimulatedStream,
  type StoredMessage,
} from './simulated-stream.ts';

const RETRY_MS = 500;
const UPLOAD_THREADS = 100;

export class RunningGateway {
  /** The position that it is given next. */
  next: number;
  /** Of the connection to the servers. */
  #isConnected = true;
  readonly #writer: SimulatedWriter;
  readonly #log: DatabaseSync;
  readonly #reader: ReturnType<SqliteReplica['reader']>;
  readonly #publisher: Publisher;
  readonly #drafts: DraftPublisher;
  readonly #withholdings: WithholdingPublisher;
  readonly #handler: MessageHandler;
  readonly #messages: SimulatedMessages;
  readonly #ended = new AbortController();
  readonly #given: { readonly message: StoredMessage; readonly isDeleted: boolean }[] = [];
  #reading: Promise<void> | undefined;
  /** What its clients wait for. */
  #pending = 0;
  #batches = 0;
  #failure: Error | undefined;

  constructor(
    folder: string,
    stream: SimulatedStream,
    random: SeededRandom,
    fault: Fault | undefined,
  ) {
    const paths = dataPathsIn(folder);
    const shared = new SharedState();
    shared.uploadThreads = UPLOAD_THREADS;
    this.#writer = new SimulatedWriter(paths, shared, random.fork(), fault, this.#ended.signal);
    const replica = new SqliteReplica(
      {
        paths,
        shared,
        signal: this.#ended.signal,
        stopping: this.#ended.signal,
        report: () => {},
        repeat: async () => {},
      },
      this.#writer,
    );
    this.#log = openForReading(paths.log);
    this.#reader = replica.reader();
    const { position = 0, resumeAt = 1 } = readStreamPosition(this.#log) ?? {};
    this.next = resumeAt;
    this.#messages = new SimulatedMessages(
      new SimulatedConnection(stream, random.fork()),
      fault === 'erases without a replacement',
    );
    const connection = new SimulatedConnection(stream, random.fork());
    this.#publisher = new Publisher(
      replica.identity,
      Promise.resolve({
        publish: async (subject, data, { msgID }) => {
          if (!this.#isConnected) throw new Error('The connection is lost.');
          return await connection.publish(msgID, subject, data);
        },
      }),
      'simulated.log',
      () => {},
    );
    this.#publisher.probe();
    this.#drafts = new DraftPublisher(
      this.#publisher,
      uploadSending(replica, this.#publisher, (name) => `simulated.upload.${name}`),
    );
    const eraser = new StreamEraser({ messages: this.#messages, log: this.#reader, replica });
    void eraser.run(this.#ended.signal);
    this.#withholdings = new WithholdingPublisher(this.#publisher, () => eraser.erased());
    const uploads = new ReceivedUploads(replica.uploads, this.#reader.unusedUploadNames());
    const applier = new Applier(replica, {
      stream: () => 'simulated',
      resumeAt: (last) =>
        fault === 'forgets unfinished uploads' ? last + 1 : uploads.resumeAt(last),
      onApplied: (batch, results) => {
        if (batch.publisher === this.#publisher.id) this.#drafts.applied(batch.number, results);
      },
      onFailed: () => {},
    });
    this.#handler = new MessageHandler({
      position,
      applier,
      uploads,
      publisher: this.#publisher,
      withholdings: this.#withholdings,
      chunksOf: (upload) => this.#messages.chunksOf(upload),
      replica,
    });
  }

  /** Whether it has handled all that it was given, and has answered all its clients. */
  get isIdle(): boolean {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#publisher.inFlight === 0 && this.#pending === 0 && this.#reading === undefined;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }
  set isConnected(isConnected: boolean) {
    this.#isConnected = isConnected;
    if (!isConnected) this.#publisher.suspect(new Error('The connection is lost.'));
  }

  append(draft: InlineDraft, onResult: (result: WriteResult) => void): void {
    this.#pending += 1;
    const client: AppendingPort = {
      postMessage: ({ results }) => {
        if (this.#ended.signal.aborted) return;
        this.#pending -= 1;
        onResult(unpackResult(results, 0));
      },
    };
    const drafts = packDrafts([{ ...draft, key: draft.key, large: undefined }]);
    this.#batches += 1;
    this.#drafts.add(client, { batch: this.#batches, drafts });
  }

  /** `onWithheld`: not called where nothing is withheld. */
  async withhold(random: SeededRandom, onWithheld: (seq: number) => void): Promise<void> {
    const log = new RowReader(this.#log);
    const head = log.lastSeq();
    if (head === 0) return;
    const seq = random.below(head) + 1;
    this.#pending += 1;
    const cases = {
      seqs: [seq],
      reason: 'Simulated.',
      state: 'withheld',
      time: undefined,
    } as const;
    const count = await withholdEntries([cases], undefined, (sent) =>
      this.#withholdings.withhold(sent),
    ).catch(() => undefined);
    if (this.#ended.signal.aborted) return;
    this.#pending -= 1;
    if (count !== undefined) onWithheld(seq);
  }

  receive(message: StoredMessage): void {
    this.#given.push({ message, isDeleted: message.isDeleted });
    this.#reading ??= this.#read();
  }

  end(): void {
    this.#ended.abort();
    this.#publisher.close();
    this.#writer.close();
    this.#log.close();
    this.#reader[Symbol.dispose]();
  }

  async #read(): Promise<void> {
    try {
      for (let given = this.#given.shift(); given; given = this.#given.shift()) {
        const { message, isDeleted } = given;
        const { position, time, data } = message;
        const replacement = isDeleted ? await this.#replacementOf(position) : undefined;
        if (this.#ended.signal.aborted) return;
        if (replacement !== undefined) await this.#handler.handleErased(position, replacement);
        else
          await this.#handler.handle(placeMessage({ seq: position, time: new Date(time), data }));
        if (this.#ended.signal.aborted) return;
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!this.#ended.signal.aborted) this.#failure = error;
    }
    this.#reading = undefined;
  }

  async #replacementOf(position: number): ReturnType<SimulatedMessages['replacementOf']> {
    for (;;) {
      try {
        const found = await this.#messages.replacementOf(position);
        assert.ok(found, `nothing is left of message ${position}`);
        return found;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
