import { setTimeout as sleep } from 'node:timers/promises';

import type { DataPaths } from '../../../packages/gateway/src/store/data-paths.ts';
import { packResults, unpackDrafts } from '../../../packages/gateway/src/log/packed-drafts.ts';
import type {
  ApplyRequest,
  ApplyResponse,
  UnpackedBatch,
} from '../../../packages/gateway/src/log/ordered-batch.ts';
import { Withholder } from '../../../packages/gateway/src/store/withholding/withholder.ts';
import { Writer } from '../../../packages/gateway/src/store/writer/writer.ts';
import type {
  CasesToList,
  WriterCalls,
} from '../../../packages/gateway/src/store/writer/writer-calls.ts';
import {
  answerCall,
  type CallPort,
  type ThreadCall,
} from '../../../packages/gateway/src/thread-call.ts';
import type { SharedState } from '../../../packages/gateway/src/store/shared-state.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { Fault } from './faults.ts';

type Listener = Parameters<CallPort<WriterCalls>['on']>[1];

/** Between two steps. */
const MAX_PAUSE_MS = 30;

/** Does what the writer's thread does. A crash may come before each step, or before its answer. */
export class SimulatedWriter implements CallPort<WriterCalls>, WriterCalls {
  readonly #random: SeededRandom;
  readonly #fault: Fault | undefined;
  readonly #shared: SharedState;
  readonly #writer: Writer;
  readonly #withholder: Withholder;
  readonly #ended: AbortSignal;
  #respond: Listener = () => {};
  readonly #decisions: Promise<number>[] = [];
  #isErasing = false;

  constructor(
    paths: DataPaths,
    shared: SharedState,
    random: SeededRandom,
    fault: Fault | undefined,
    ended: AbortSignal,
  ) {
    this.#random = random;
    this.#fault = fault;
    this.#shared = shared;
    this.#writer = new Writer(paths, shared);
    this.#withholder = new Withholder(paths, shared, this.#writer);
    this.#ended = ended;
    void this.#erase();
  }

  /** Changes when entries were withheld. */
  get withheld(): number {
    return this.#shared.withheldInLog;
  }

  postMessage(call: ThreadCall<WriterCalls>): void {
    void this.#handle(call);
  }

  on(_event: 'message', listener: Listener): void {
    this.#respond = listener;
  }

  close(): void {
    this.#withholder.close();
    this.#writer.close();
  }

  async withhold(): Promise<never> {
    throw new Error('Visitors withhold by the stream.');
  }

  decide(all: readonly CasesToList[]): number | 'unavailable' {
    if (this.#fails()) return 'unavailable';
    const dated = all.map((cases) => ({ ...cases, time: cases.time ?? 0 }));
    const isKept = this.#fault === 'withholds nothing';
    const erased = this.#withholder.withhold(isKept ? [] : dated);
    if (!this.#isErasing) void this.#erase();
    return this.#decisions.push(erased);
  }

  async erased(decision: number): Promise<number> {
    return (await this.#decisions[decision - 1]) ?? 0;
  }

  erasedInStream(erased: Parameters<WriterCalls['erasedInStream']>[0]): void {
    if (!this.#fails()) this.#writer.erasedInStream(erased);
  }

  copy(): never {
    throw new Error('A cluster copies nothing.');
  }

  apply(request: ApplyRequest): ApplyResponse['applied'] {
    if (this.#fails()) return 'unavailable';
    const unpacked = request.apply.map((batch) =>
      changed({ ...batch, drafts: unpackDrafts(batch.drafts) }, this.#fault),
    );
    const results = this.#writer.apply(unpacked, request);
    return typeof results === 'string' ? results : results.map((each) => each && packResults(each));
  }

  #fails(): boolean {
    return this.#random.chance(0.05);
  }

  async #handle(call: ThreadCall<WriterCalls>): Promise<void> {
    await this.#pause();
    if (this.#ended.aborted) return;
    const port = { postMessage: (reply: object) => void this.#reply(reply) };
    await answerCall<WriterCalls>(port, call, this);
  }

  async #reply(reply: object): Promise<void> {
    await this.#pause();
    if (!this.#ended.aborted) this.#respond(reply);
  }

  async #erase(): Promise<void> {
    this.#isErasing = true;
    do {
      await this.#pause();
      if (this.#ended.aborted) return;
    } while (this.#withholder.erase() !== 'done');
    this.#isErasing = false;
  }

  async #pause(): Promise<void> {
    await sleep(this.#random.below(MAX_PAUSE_MS));
  }
}

function changed(batch: UnpackedBatch, fault: Fault | undefined): UnpackedBatch {
  if (fault === 'applies repeats') return { ...batch, number: batch.position, settled: 0 };
  if (fault === 'takes its own clock') return { ...batch, time: batch.time + 1 };
  if (fault === 'applies void messages') return { ...batch, sent: batch.time };
  if (fault === 'draws its own salts' && !batch.forms?.some((form) => form !== undefined))
    return { ...batch, nonce: new Uint8Array(32) };
  if (fault === 'applies what has not wholly come')
    return {
      ...batch,
      forms: batch.forms?.map((form) => (form && 'isRefused' in form ? undefined : form)),
    };
  return batch;
}
