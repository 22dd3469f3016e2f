/**
 * A clock that cannot jump, the same in all threads: whether somebody is still here depends on how long ago
 * something was.
 */

/** The difference of the clocks is taken anew where it has changed by this many ms. */
const MIN_JUMP_MS = 1000;

let difference = 0;

/** Milliseconds since 1970, as the machine's clock was when the process started. */
export function steadyNow(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/** What the machine's clock, as it is now, calls a time of the steady clock. */
export function machineTime(steady: number): number {
  const current = Date.now() - steadyNow();
  if (Math.abs(current - difference) >= MIN_JUMP_MS) difference = current;
  return steady + difference;
}
