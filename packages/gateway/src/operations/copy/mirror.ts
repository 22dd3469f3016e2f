/**
 * What a gateway that mirrors another one knows of that. All threads share it through memory.
 *
 * Invariant: A mirror stores nothing that is said to it, and leads it to the origin, through every
 *   door.
 * Test: `test/mirror/mirror.test.ts` “serves what it has, and leads what is said to the origin, by
 *   every way”
 */
import { GatewayError, type MirrorDocument } from '@open-presence/protocol';

import type { Log } from '../../log/log.ts';

/** `starting` until the origin has answered; `stopped` where the copy cannot be continued. */
const STATES = ['starting', 'following', 'unreachable', 'stopped'] as const;
export type MirrorState = (typeof STATES)[number];

const STATE = 0;
const ORIGIN_HEAD = 1;

export class Mirror {
  /** The address of the gateway that is mirrored, without a slash at its end. */
  readonly origin: string;
  readonly memory: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  constructor(origin: string, memory: SharedArrayBuffer = new SharedArrayBuffer(2 * 8)) {
    this.origin = origin;
    this.memory = memory;
    this.#cells = new BigInt64Array(memory);
  }

  get state(): MirrorState {
    return STATES[Number(Atomics.load(this.#cells, STATE))] ?? 'starting';
  }
  set state(state: MirrorState) {
    Atomics.store(this.#cells, STATE, BigInt(STATES.indexOf(state)));
  }

  /** The newest entry of the origin, as far as is known. */
  get originHead(): number {
    return Number(Atomics.load(this.#cells, ORIGIN_HEAD));
  }
  set originHead(head: number) {
    Atomics.store(this.#cells, ORIGIN_HEAD, BigInt(head));
  }

  describe(log: Pick<Log, 'head'>): MirrorDocument {
    const { origin, state } = this;
    return { origin, state, behind: Math.max(0, this.originHead - log.head()) };
  }

  /** Answers what would store an entry. `status`: 421, or that of a redirect. */
  refusal(status?: number): GatewayError {
    const { origin } = this;
    const message = `Cannot store this entry here: this is a mirror of ${origin}, which stores entries. Send it there.`;
    return new GatewayError('misdirected', message, { origin }, status);
  }
}
