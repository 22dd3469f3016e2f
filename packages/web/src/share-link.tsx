/** Shares the address of a page where the device can, and copies it elsewhere. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { MoreButton } from './more-button.tsx';
import { useShell, useWords } from './shell.ts';

interface ShareLinkProps {
  /** By default, what stands in the address bar. */
  readonly path?: string;
}

/** Only where scripts run, and the browser lets them. */
export function ShareLink({ path }: ShareLinkProps): VNode | null {
  const { address } = useShell();
  const { entry: words } = useWords();
  const [state, setState] = useState<'absent' | 'share' | 'copy' | 'copied'>('absent');
  useEffect(() => {
    setState('share' in navigator ? 'share' : 'clipboard' in navigator ? 'copy' : 'absent');
  }, []);
  if (state === 'absent') return null;
  const urlNow = (): string => (path === undefined ? location.href : address + path);
  const copy = (): void => {
    navigator.clipboard.writeText(urlNow()).then(
      () => setState('copied'),
      () => setState('absent'),
    );
  };
  const share = (): void => {
    // Whoever closes the choice has shared nothing, and needs no message.
    void navigator.share({ url: urlNow(), title: document.title }).catch(() => {});
  };
  return (
    <MoreButton onClick={state === 'share' ? share : copy}>
      <span role="status">
        {state === 'share' ? words.share : state === 'copied' ? words.linkCopied : words.copyLink}
      </span>
    </MoreButton>
  );
}
