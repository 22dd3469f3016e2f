import { PresenceError } from '@open-presence/client';
import type { ContinuedLog } from '@open-presence/gateway';

import type { CopiedOrigin } from './origin-check.ts';

type WithholdingCopy = Parameters<ContinuedLog['entries']['withhold']>[0][number];

/** Entries that are withheld in one transaction. */
const BATCH = 4096;
/** Characters of their reasons: long ones end a batch early. */
const BATCH_CHARACTERS = 1024 * 1024;

/** Withholds in a copy what its origin has withheld since it was copied. */
export class OriginWithholdings {
  readonly #origin: Pick<CopiedOrigin, 'gateway' | 'copy' | 'signal'>;
  /** The newest of the origin's numbers that was seen to. */
  #last = 0;

  constructor(origin: Pick<CopiedOrigin, 'gateway' | 'copy' | 'signal'>) {
    this.#origin = origin;
  }

  /** Resolves when the copy has erased them. Throws what prevents that. */
  async step(): Promise<void> {
    const { gateway, copy, signal } = this.#origin;
    let batch: WithholdingCopy[] = [];
    let last = this.#last;
    let characters = 0;
    const withhold = async (): Promise<void> => {
      if (batch.length > 0) await copy.entries.withhold(batch);
      this.#last = last;
      batch = [];
      characters = 0;
    };
    try {
      for await (const { number, seq, at, reason } of gateway.withholdings({
        after: last,
        signal,
      })) {
        // It may be on its way as it was before: the next step sees to it.
        if (seq > copy.head()) break;
        batch.push({ seq, time: Date.parse(at), reason });
        last = number;
        characters += reason.length;
        if (batch.length === BATCH || characters > BATCH_CHARACTERS) await withhold();
      }
    } catch (error) {
      // An older gateway withholds nothing.
      if (!(error instanceof PresenceError) || error.status !== 404) throw error;
    }
    await withhold();
  }
}
