/**
 * Memory for parts of bodies that are read from files and sent without a copy. The socket of a stalled caller
 * keeps the buffer that was written to it. Upholds that the sockets of a thread keep at most `MAX_LENT` of them:
 * what is sent beyond that is copied.
 */
/** As much as a chunk has: each read takes two changes of threads. */
export const READ_SIZE: number = 1280 * 1024;
const MAX_LENT = 4;
/** More than are read into at a time are not kept. */
const MAX_FREE = 4;

const free: Buffer[] = [];
let lent = 0;

/** A buffer with room for `READ_SIZE` bytes and their framing. */
export function takeReadBuffer(framing: number): Buffer {
  return free.pop() ?? Buffer.allocUnsafeSlow(READ_SIZE + framing);
}

export function releaseReadBuffer(buffer: Buffer): void {
  if (free.length < MAX_FREE) free.push(buffer);
}

/** Whether a socket may hold one more buffer. */
export function canLend(): boolean {
  return lent < MAX_LENT;
}

/** Returns a function that takes the buffer back. */
export function lend(buffer: Buffer): () => void {
  lent += 1;
  return () => {
    lent -= 1;
    releaseReadBuffer(buffer);
  };
}
