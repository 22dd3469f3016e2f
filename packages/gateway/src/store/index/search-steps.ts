/**
 * Long work as a generator, which yields between bounded pieces of it.
 *
 * Invariant: A search ends with its caller, through every door, and a short one passes long ones.
 * Test: `packages/gateway/src/doors/rest/abandoned-search.test.ts` “a search whose caller leaves”
 * Test: `packages/gateway/src/store/index/words.test.ts` “are no longer ranked
 *   for a caller who has left, nor for a log that closes”
 * Test: `packages/gateway/src/store/index/search-steps.test.ts` “go to the one
 *   that has had the fewest, so that a short search passes long ones that began before”
 */
import type { Turns } from '../../fair-turns.ts';

/** A promise that it yields is waited for. */
export type SearchSteps<Result> = Generator<Promise<void> | void, Result, void>;

/** In turns with the other work of the thread. Ends the steps and rejects once the signal is aborted. */
export async function takeSteps<Result>(
  steps: SearchSteps<Result>,
  turns: Turns,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    if (signal?.aborted === true) {
      steps.return?.(undefined as Result);
      throw signal.reason;
    }
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) {
      await step.value;
      turns.startSlice();
    } else if (turns.isOver) await turns.next();
  }
}
