/** A stream and the way to it: messages are lost, late, repeated, and stored in another order. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { SeededRandom } from '../../seeded-random.ts';

export interface StoredMessage {
  /** From 1, without gaps. */
  readonly position: number;
  /** In ms since 1970. May go back, when another server leads the stream. */
  readonly time: number;
  readonly data: Uint8Array;
}

const NO_ANSWER_MS = 3000;
const MAX_DELAY_MS = 50;
/** A message that is this late comes after it was published again. */
const MAX_LATE_MS = 20_000;
/** Clocks of leaders may be hours wrong. */
const MAX_SKEW_MS = 6 * 3_600_000;

export class SimulatedStream {
  readonly messages: StoredMessage[] = [];
  /** Whether everything arrives, and is acknowledged. */
  isReliable = false;
  readonly #random: SeededRandom;
  /** How many of its newest messages it tells from one that comes again. */
  readonly #memory: number;
  readonly #ids: string[] = [];
  #skew = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#memory = random.below(20);
  }

  /** Rejects where no answer comes: the message may be stored all the same, even later. */
  async publish(id: string, data: Uint8Array): Promise<{ readonly seq: number }> {
    const fate = this.isReliable ? 1 : this.#random.next();
    if (fate >= 0.3) {
      const seq = await this.#storeLater(id, data, MAX_DELAY_MS);
      await sleep(this.#random.below(MAX_DELAY_MS));
      return { seq };
    }
    if (fate < 0.1) void this.#storeLater(id, data, MAX_LATE_MS);
    else if (fate < 0.2) void this.#storeLater(id, data, MAX_DELAY_MS);
    await sleep(NO_ANSWER_MS);
    throw new Error('No answer came.');
  }

  /** Resolves with its position. */
  async #storeLater(id: string, data: Uint8Array, within: number): Promise<number> {
    await sleep(this.#random.below(within));
    const known = this.#ids.lastIndexOf(id);
    if (known !== -1 && known >= this.#ids.length - this.#memory) return known + 1;
    if (this.#random.chance(0.1)) this.#skew = this.#random.below(MAX_SKEW_MS);
    this.#ids.push(id);
    const time = Date.now() - this.#skew;
    const position = this.messages.length + 1;
    this.messages.push({ position, time, data });
    return position;
  }
}
