/** Long work as a generator, which yields between bounded pieces of it. */
import type { Turns } from '../../../../fair-turns.ts';

/** A promise that it yields is waited for. */
export type SearchSteps<Result> = Generator<Promise<void> | void, Result, void>;

/**
 * Takes the steps in turns with the other work of the thread. Rejects with the signal's reason once it is
 * aborted: then the steps are ended.
 */
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
