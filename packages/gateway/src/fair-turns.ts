/**
 * Cooperative scheduling within a thread. Long work runs in slices, and in each iteration of the
 * event loop one piece of long work continues: so short work waits for one slice at most, however
 * much long work there is. Work that has had fewer turns goes first; so that all goes on, one turn
 * in four goes to the work that has waited longest.
 */

/** Length of a slice. */
const SLICE_MS = 2;
const LEVELS = 16;
const TURNS_BY_AGE = 4;

interface Waiting {
  readonly order: number;
  readonly resume: () => void;
}

/** By the logarithm of the turns that the work has had; in each, in the order of asking. */
const levels: readonly Waiting[][] = Array.from({ length: LEVELS }, () => []);
let asked = 0;
let given = 0;

/** Resolves when it is the turn of a caller who has had so many turns. */
export function nextTurn(had = 0): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const level = Math.min(32 - Math.clz32(had), LEVELS - 1);
  levels[level]?.push({ order: asked, resume: resolve });
  if (asked === given) setImmediate(resumeNext);
  asked += 1;
  return promise;
}

function resumeNext(): void {
  const waiting = levels.filter(({ length }) => length > 0);
  if (given % TURNS_BY_AGE === 0) {
    waiting.sort(([a], [b]) => (a?.order ?? 0) - (b?.order ?? 0));
  }
  waiting[0]?.shift()?.resume();
  given += 1;
  if (asked > given) setImmediate(resumeNext);
}

/** The turns of a piece of long work. */
export class Turns {
  #had = 0;
  #sliceStart: number = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#sliceStart > SLICE_MS;
  }

  /** To be called when the work goes on after it has waited for something else. */
  startSlice(): void {
    this.#sliceStart = performance.now();
  }

  async next(): Promise<void> {
    await nextTurn(this.#had);
    this.#had += 1;
    this.startSlice();
  }
}

/** Returns a function for long work to call often: it waits for a turn after each slice. */
export function yieldPeriodically(): () => Promise<void> {
  const turns = new Turns();
  return async () => {
    if (turns.isOver) await turns.next();
  };
}
