/**
 * Cooperative scheduling within a thread. Long work runs in slices, and in each iteration of the
 * event loop one piece of long work continues: so short work waits for one slice at most, however
 * much long work there is. Work that has had fewer turns goes first, and work for callers who have
 * ended their half goes last; so that all goes on, one turn in four goes to the work that has waited
 * longest.
 *
 * Invariant: No request waits for the long body or long read of another.
 * Test: `packages/gateway/src/intake/large-body.test.ts` “others get their turn while a
 *   large body is read, even if the spool never waits”
 * Test: `packages/gateway/src/doors/rest/listing.test.ts` “lets other callers get their turn”
 * Test: `packages/gateway/src/fair-turns.test.ts` “come to all who wait in the order in which they
 *   asked, one in each turn of the loop”
 */

import { hasCallerEnded } from './ended-callers.ts';

/** Length of a slice. */
const SLICE_MS = 2;
const LEVELS = 16;
/** Turns of work that all other work goes before. */
const LAST = 2 ** LEVELS;
const TURNS_BY_AGE = 4;

interface Waiting {
  readonly order: number;
  readonly resume: () => void;
}

/** Work that waits: what has had fewer turns is resumed first, and sometimes what waits longest. */
export class TurnQueue {
  /** By the logarithm of the turns that the work has had; in each, in the order of asking. */
  readonly #levels: readonly Waiting[][] = Array.from({ length: LEVELS }, () => []);
  #asked = 0;
  #given = 0;

  /** How much work waits. */
  get length(): number {
    return this.#asked - this.#given;
  }

  /** Resolves when work that has had `had` turns is resumed. */
  wait(had: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const level = Math.min(32 - Math.clz32(had), LEVELS - 1);
    this.#levels[level]?.push({ order: this.#asked, resume: resolve });
    this.#asked += 1;
    return promise;
  }

  /** Some work must wait. */
  resumeNext(): void {
    const waiting = this.#levels.filter(({ length }) => length > 0);
    if (this.#given % TURNS_BY_AGE === 0) {
      waiting.sort(([a], [b]) => (a?.order ?? 0) - (b?.order ?? 0));
    }
    waiting[0]?.shift()?.resume();
    this.#given += 1;
  }
}

const queue = new TurnQueue();

/** Turns in a row that wait for new connections, at most. */
const MAX_DEFERRED = 32;
let deferred = 0;
let mustDefer = false;

/** Call it when a connection was accepted: libuv accepts one in each turn, so each would wait for a slice. */
export function deferTurn(): void {
  mustDefer = true;
}

/** Resolves at the next turn of a caller who has had `had` turns. */
export function nextTurn(had = 0): Promise<void> {
  if (queue.length === 0) setImmediate(resumeNext);
  return queue.wait(had);
}

function resumeNext(): void {
  if (mustDefer && deferred < MAX_DEFERRED) {
    deferred += 1;
  } else {
    deferred = 0;
    queue.resumeNext();
  }
  mustDefer = false;
  if (queue.length > 0) setImmediate(resumeNext);
}

/** The turns of a piece of long work. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #had: number;
  #sliceStart: number = performance.now();

  /** `signal`: of the caller who waits for the work. `had`: before, in another place. */
  constructor(signal?: AbortSignal, had = 0) {
    this.#signal = signal;
    this.#had = had;
  }

  /** How many it has had. */
  get had(): number {
    return this.#had;
  }

  get isOver(): boolean {
    return performance.now() - this.#sliceStart > SLICE_MS;
  }

  /** To be called when the work goes on after it has waited for something else. */
  startSlice(): void {
    this.#sliceStart = performance.now();
  }

  async next(): Promise<void> {
    const isLast = hasCallerEnded(this.#signal);
    await nextTurn(isLast ? LAST : this.#had);
    // All other work goes first, even if the caller ended its half meanwhile.
    if (!isLast && hasCallerEnded(this.#signal)) await nextTurn(LAST);
    this.#had += 1;
    this.startSlice();
  }
}

/**
 * Returns a function for long work to call often. After each slice, that returns a promise to wait for.
 * `signal`: of the caller who waits for the work.
 */
export function yieldPeriodically(signal?: AbortSignal): () => Promise<void> | undefined {
  const turns = new Turns(signal);
  return () => (turns.isOver ? turns.next() : undefined);
}
