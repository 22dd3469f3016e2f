/** Event streams that the pages of one browser have open together: over HTTP/1.1, it opens six connections to a host. */
const MAX_STREAMS = 4;

/** Resolves with what gives the slot back; with undefined if the browser has no more. */
export async function takeSlot(): Promise<(() => void) | undefined> {
  // Browsers have locks at addresses that they trust.
  if (!('locks' in navigator)) return () => {};
  for (let slot = 1; slot <= MAX_STREAMS; slot += 1) {
    const giveBack = await lockIfFree(`stream ${slot}`);
    if (giveBack !== undefined) return giveBack;
  }
  return undefined;
}

function lockIfFree(name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) =>
        lock === null ? resolve(undefined) : new Promise<void>((giveBack) => resolve(giveBack)),
      )
      .catch(reject);
  });
}
