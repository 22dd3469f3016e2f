/** Takes turns at what must be in memory whole. One queue serves all protocols. */

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Runs the task after those that came before it. A turn ends with its task, or when the task calls `release`
 * because it will wait for something that may never come.
 */
export async function runInTurn(task: (release: () => void) => Promise<void>): Promise<void> {
  const previous = lastTurn;
  const { promise, resolve: release } = Promise.withResolvers<void>();
  lastTurn = promise;
  await previous;
  await task(release).finally(release);
}
