/** The true status of the gateway: asked for again while somebody looks at the page. */
import type { State } from '@open-presence/protocol';
import { STATES } from '@open-presence/protocol';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useShell, useWords } from './shell.ts';
import { onOutboxChange } from './speaking/outbox/outbox.ts';

const INTERVAL_MS = 20_000;

export function StatusSign(): VNode {
  const { states } = useShell();
  const { layout } = useWords();
  const status = useStatus();
  const { name, meaning } =
    status === undefined
      ? { name: layout.unreachable, meaning: layout.unreachableMeaning }
      : states[status];
  return (
    <p class="status" data-status={status ?? 'unreachable'} role="status" title={meaning}>
      <span class="status-dot" aria-hidden="true" />
      {name}
    </p>
  );
}

/** Undefined while the gateway does not answer. */
function useStatus(): State | undefined {
  const [status, setStatus] = useState<State | undefined>(useShell().status);
  useEffect(() => {
    const update = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      const current = await fetchStatus();
      setStatus(current);
      // Also colors what shows the status without words.
      document.documentElement.dataset['status'] = current ?? 'unreachable';
    };
    const onChange = (): void => void update();
    const timer = setInterval(onChange, INTERVAL_MS);
    const changes = ['online', 'offline', 'visibilitychange'] as const;
    for (const change of changes) addEventListener(change, onChange);
    // What could not be sent may say more than the last status.
    const stop = onOutboxChange(onChange);
    return () => {
      stop();
      clearInterval(timer);
      for (const change of changes) removeEventListener(change, onChange);
    };
  }, []);
  return status;
}

async function fetchStatus(): Promise<State | undefined> {
  try {
    const answer = await fetch('/readyz');
    const { status } = (await answer.json()) as { status: unknown };
    return STATES.find((state) => state === status);
  } catch {
    return undefined;
  }
}
