/** A button that shares the address of a page if the device can, and copies it otherwise. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { MoreButton } from './more-button.tsx';
import { useShell, useWords } from './shell.ts';

/**
 * `path`: by default, the address in the address bar. Absent without scripts, and if the browser can neither
 * share nor copy.
 */
export function ShareLink({ path }: { path?: string }): VNode | null {
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
    // A visitor who closes the dialog has shared nothing and needs no message.
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
