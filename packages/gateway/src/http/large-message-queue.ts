/**
 * Messages that a protocol wants whole: MCP's and A2A's. As values they take many times the room
 * that they are spelled in, so long ones are read one after another, whichever protocol they are of.
 */

/** Bytes from which on a message is long. */
const LONG = 1024 * 1024;

let turn: Promise<void> = Promise.resolve();

/**
 * Acts on a message when it is its turn: at once where it is short. It is over when the act is, or
 * when that calls `begun`, for an answer that may go on for ever.
 */
export async function runInTurn(
  bytes: Buffer,
  act: (begun: () => void) => Promise<void>,
): Promise<void> {
  if (bytes.length <= LONG) return await act(() => {});
  const before = turn;
  const { promise, resolve: begun } = Promise.withResolvers<void>();
  turn = promise;
  await before;
  await act(begun).finally(begun);
}
