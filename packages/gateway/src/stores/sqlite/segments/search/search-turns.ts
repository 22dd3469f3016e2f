/**
 * Turns of the searches that run at the same time in one thread. Each search is a generator, which
 * yields between bounded pieces of its work. The next turn goes to the search that has cost the least
 * so far, so that a short one does not wait behind long ones; every fourth turn goes to the one that
 * has waited longest, so that none starves. A search that yields a promise waits for it.
 */

import type { Turns } from '../../../../fair-turns.ts';

/** A turn ends with the first piece of work that ends later than this. */
const TURN_MS = 2;
const LONGEST_WAITING_EVERY = 4;

export type SearchSteps<Result> = Generator<Promise<void> | void, Result, void>;

export interface SearchCost {
  /** In ms: what the search has cost so far. */
  cost: number;
}

interface RunningSearch {
  readonly spent: SearchCost;
  takeTurn(): void;
}

export class SearchTurns {
  /** The one that has waited longest comes first. */
  readonly #searches = new Set<RunningSearch>();
  #turns = 0;
  #isScheduled = false;

  /**
   * Resolves to what the steps return, and adds their cost to `spent`. Rejects with the signal's reason
   * once it is aborted: then no further step is taken.
   */
  run<Result>(steps: SearchSteps<Result>, spent: SearchCost, signal: AbortSignal): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const end = (): void => {
      this.#searches.delete(search);
      signal.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      steps.return?.(undefined as Result);
      reject(signal.reason);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
    };
    const search: RunningSearch = {
      spent,
      takeTurn: () => {
        const started = performance.now();
        try {
          for (let now = started; now - started < TURN_MS; now = performance.now()) {
            const step = steps.next();
            if (step.done === true) {
              end();
              resolve(step.value);
              return;
            }
            if (step.value === undefined) continue;
            this.#searches.delete(search);
            step.value.then(() => this.#resume(search, signal), fail);
            return;
          }
          this.#searches.delete(search);
          this.#searches.add(search);
        } catch (error) {
          fail(error);
        } finally {
          spent.cost += performance.now() - started;
        }
      },
    };
    signal.addEventListener('abort', abort);
    this.#searches.add(search);
    if (signal.aborted) abort();
    else this.#schedule();
    return promise;
  }

  #resume(search: RunningSearch, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#searches.add(search);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#searches.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#next()?.takeTurn();
      this.#schedule();
    });
  }

  #next(): RunningSearch | undefined {
    this.#turns += 1;
    const [longestWaiting, ...others] = this.#searches;
    if (this.#turns % LONGEST_WAITING_EVERY === 0) return longestWaiting;
    let cheapest = longestWaiting;
    for (const search of others) {
      if (search.spent.cost < (cheapest?.spent.cost ?? 0)) cheapest = search;
    }
    return cheapest;
  }
}

/** Takes the steps in a thread where other work has its turns as well. */
export async function takeSteps<Result>(steps: SearchSteps<Result>, turns: Turns): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) await step.value;
    if (turns.isOver) await turns.next();
  }
}
