/** Buttons that copy an address or a request. */

/** How long a button says what it did. */
const FEEDBACK_MS = 2500;

export function startCopying(): void {
  const share = document.querySelector<HTMLButtonElement>('button[data-share]');
  if (share !== null) {
    const canShare = 'share' in navigator;
    share.hidden = !canShare && !('clipboard' in navigator);
    if (canShare) share.textContent = share.dataset['share'] ?? '';
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('.code button'))
    button.hidden = false;
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLButtonElement>('button[data-copied]');
    if (button !== null) void press(button);
  });
}

async function press(button: HTMLButtonElement): Promise<void> {
  if ('share' in button.dataset && 'share' in navigator) {
    // A visitor who closes the dialog has shared nothing and needs no message.
    return await navigator.share({ url: location.href, title: document.title }).catch(() => {});
  }
  const code = button.parentElement?.querySelector('code') ?? null;
  const done = await copy(code?.textContent ?? button.dataset['address'] ?? location.href, code);
  const said = button.dataset[done ? 'copied' : 'selected'];
  if (said === undefined) return;
  const { textContent } = button;
  const status = button.parentElement?.querySelector('[role="status"]');
  button.textContent = said;
  if (status) status.textContent = said;
  setTimeout(() => {
    button.textContent = textContent;
    if (status) status.textContent = '';
  }, FEEDBACK_MS);
}

/** Whether the text is copied. Selects it otherwise: browsers give pages without TLS no clipboard. */
async function copy(text: string, element: Element | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (element !== null) getSelection()?.selectAllChildren(element);
    return false;
  }
}
