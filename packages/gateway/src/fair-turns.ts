/**
 * Fair turns on a thread. Work that takes long is done a little at a time, and of all who have such
 * work, one goes on in each turn of the event loop: so whoever asks for little waits for one of them
 * at most, however many they are.
 */

/** How long one works before it is somebody else's turn. */
const TURN_MS = 2;

const waiting: (() => void)[] = [];

/** Resolves when it is the caller's turn, behind all who wait already. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(next);
  return promise;
}

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/** What long work calls again and again: waits for a turn when it has had its time. */
export function yieldPeriodically(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began <= TURN_MS) return;
    await nextTurn();
    began = performance.now();
  };
}
