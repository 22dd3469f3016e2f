import { setTimeout as sleep } from 'node:timers/promises';

import { type Gateway, PresenceError } from '@open-presence/client';

const PAUSE_MS = 1000;

/** The name of a gateway's log. Tries again until it is reached, or the signal is aborted. */
export async function nameOfOrigin(
  gateway: Gateway,
  {
    signal,
    onTrouble,
  }: {
    readonly signal: AbortSignal;
    readonly onTrouble: (error: Error | undefined) => void;
  },
): Promise<string> {
  for (;;) {
    try {
      const { log } = await gateway.checkpoint({ signal });
      onTrouble(undefined);
      return log;
    } catch (error) {
      if (!(error instanceof PresenceError) || !error.isTemporary) throw error;
      onTrouble(error);
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}
