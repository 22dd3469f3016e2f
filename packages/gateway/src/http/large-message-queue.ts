/**
 * Takes turns at parsing large messages that must be in memory at once (MCP, A2A): parsed, they take
 * many times the memory of their bytes. One queue serves all protocols.
 */

/** Messages up to this size, in bytes, do not wait. */
const MAX_UNQUEUED_SIZE = 1024 * 1024;

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Runs the task at once for a small message, else after the tasks of earlier large ones. A turn ends
 * with its task, or when the task calls `release`, as before a response that may never end.
 */
export async function runInTurn(
  bytes: Buffer,
  task: (release: () => void) => Promise<void>,
): Promise<void> {
  if (bytes.length <= MAX_UNQUEUED_SIZE) return await task(() => {});
  const previous = lastTurn;
  const { promise, resolve: release } = Promise.withResolvers<void>();
  lastTurn = promise;
  await previous;
  await task(release).finally(release);
}
