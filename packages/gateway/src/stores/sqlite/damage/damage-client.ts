/** A reader's side of the registry of damage: which entries not to try, and where to report others. */
import type { MessagePort } from 'node:worker_threads';

import type { Seq } from '../../../log/log.ts';
import { causeOf, type FaultCause } from '../../../storage-fault.ts';

export interface EntryDamage {
  readonly seq: Seq;
  readonly cause: FaultCause;
}

/** From a reader: what it could not read. */
export interface DamageReport {
  readonly unreadable: EntryDamage;
}

/** To each reader: which entries cannot be read, or can be again. */
export interface DamageNotice {
  readonly unreadable: readonly Seq[];
  readonly readable: readonly Seq[];
}

export class DamageClient {
  readonly #port: MessagePort;
  readonly #unreadable = new Set<Seq>();

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', ({ unreadable = [], readable = [] }: Partial<DamageNotice>) => {
      for (const seq of unreadable) this.#unreadable.add(seq);
      for (const seq of readable) this.#unreadable.delete(seq);
    });
    // Only tells of changes: it must not keep the thread alive.
    port.unref();
  }

  get size(): number {
    return this.#unreadable.size;
  }

  has(seq: Seq): boolean {
    return this.#unreadable.has(seq);
  }

  /** Skips the entry until the segments' thread has found it readable. */
  report(seq: Seq, fault: Error): void {
    if (this.#unreadable.has(seq)) return;
    this.#unreadable.add(seq);
    const cause = causeOf(fault);
    this.#port.postMessage({ unreadable: { seq, cause } } satisfies DamageReport);
  }
}
