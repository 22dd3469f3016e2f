/**
 * Cooperative scheduling within a thread. Long work runs in slices, and in each iteration of the
 * event loop one piece of long work continues: so short work waits for one slice at most, however
 * much long work there is.
 */

/** Length of a slice. */
const SLICE_MS = 2;

const waiting: (() => void)[] = [];

/** Resolves when it is the caller's turn, after all who are waiting already. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(resumeNext);
  return promise;
}

function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Returns a function for long work to call often: it waits for a turn after each slice. */
export function yieldPeriodically(): () => Promise<void> {
  let sliceStart = performance.now();
  return async () => {
    if (performance.now() - sliceStart <= SLICE_MS) return;
    await nextTurn();
    sliceStart = performance.now();
  };
}
