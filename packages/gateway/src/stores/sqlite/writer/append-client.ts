/** Sends a thread's drafts to the writer's thread, in batches. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

import type { FaultCause } from '../../../storage-fault.ts';
import {
  type AppendRequest,
  type AppendResponse,
  packDrafts,
  type PackedDraft,
  unpackResult,
  type UploadReport,
  type WriteResult,
} from '../../../log/packed-drafts.ts';

interface PendingAppend {
  readonly draft: PackedDraft;
  readonly onResult: (result: WriteResult) => void;
}

const MAX_BATCH = 32;

export class AppendClient {
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
    // Drafts of one turn of the event loop are sent together, unless they are enough for the
    // writer to start on.
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
