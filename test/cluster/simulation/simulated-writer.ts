import { setTimeout as sleep } from 'node:timers/promises';

import type { DataPaths } from '../../../packages/gateway/src/stores/sqlite/data-paths.ts';
import { packResults, unpackDrafts } from '../../../packages/gateway/src/log/packed-drafts.ts';
import type { UnpackedBatch } from '../../../packages/gateway/src/log/ordered-batch.ts';
import { Withholder } from '../../../packages/gateway/src/stores/sqlite/log/withholder.ts';
import { Writer } from '../../../packages/gateway/src/stores/sqlite/log/writer.ts';
import type {
  FromWriter,
  WriterPort,
} from '../../../packages/gateway/src/stores/sqlite/replica/sqlite-replica.ts';
import type { SharedState } from '../../../packages/gateway/src/stores/sqlite/shared-state.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { Fault } from './faults.ts';

type ToWriter = Parameters<WriterPort['postMessage']>[0];

/** Between two steps. */
const MAX_PAUSE_MS = 30;

/** Does what the writer's thread does. A crash may come before each step, or before its answer. */
export class SimulatedWriter implements WriterPort {
  readonly #random: SeededRandom;
  readonly #fault: Fault | undefined;
  readonly #shared: SharedState;
  readonly #writer: Writer;
  readonly #withholder: Withholder;
  readonly #ended: AbortSignal;
  #respond: (response: FromWriter) => void = () => {};
  #unerased: { readonly withholding: number; readonly listed: { readonly count: number } }[] = [];
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
    this.#withholder = new Withholder(paths, shared);
    this.#ended = ended;
    void this.#erase();
  }

  /** Changes when entries were withheld. */
  get withheld(): number {
    return this.#shared.withheldInLog;
  }

  postMessage(request: ToWriter): void {
    void this.#handle(request);
  }

  on(_event: 'message', listener: (message: FromWriter) => void): void {
    this.#respond = listener;
  }

  close(): void {
    this.#writer.close();
  }

  async #handle(request: ToWriter): Promise<void> {
    await this.#pause();
    if (this.#ended.aborted) return;
    const response = this.#respondTo(request);
    await this.#pause();
    if (this.#ended.aborted || response === undefined) return;
    this.#respond(response);
  }

  #respondTo(request: ToWriter): FromWriter | undefined {
    const fails = this.#random.chance(0.05);
    if ('erasedMessages' in request) {
      if (!fails) this.#writer.erasedInStream(request);
      return undefined;
    }
    if ('uploadFault' in request) return undefined;
    if ('withholding' in request) {
      const { withholding, items } = request;
      if (fails) return { withholding, result: 'unavailable' };
      const listed =
        this.#fault === 'withholds nothing'
          ? { count: items.length }
          : this.#withholder.withhold(items.map((item) => ({ ...item, time: item.time ?? 0 })));
      this.#unerased.push({ withholding, listed });
      if (!this.#isErasing) void this.#erase();
      return { marked: withholding };
    }
    if (fails) return { applied: 'unavailable' };
    const unpacked = request.apply.map((batch) =>
      changed({ ...batch, drafts: unpackDrafts(batch.drafts) }, this.#fault),
    );
    const results = this.#writer.apply(unpacked, request);
    if (typeof results === 'string') return { applied: results };
    return { applied: results.map((each) => each && packResults(each)) };
  }

  async #erase(): Promise<void> {
    this.#isErasing = true;
    do {
      await this.#pause();
      if (this.#ended.aborted) return;
    } while (this.#withholder.erase() !== 'done');
    this.#isErasing = false;
    const unerased = this.#unerased;
    this.#unerased = [];
    for (const { withholding, listed } of unerased)
      this.#respond({ withholding, result: listed.count });
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
