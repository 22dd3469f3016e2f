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
export async function inTurn(
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

/** Whether a JSON text has more than so many values, or might have. */
export function hasMore(bytes: Buffer, most: number): boolean {
  // Each takes a byte at least.
  if (bytes.length <= most) return false;
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x22) at = quoteAfter(bytes, at);
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count += 1;
  }
  return count > most;
}

/** Where a string ends that begins here. */
function quoteAfter(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = bytes.indexOf(0x22, at + 1);
    if (at === -1) return bytes.length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}
