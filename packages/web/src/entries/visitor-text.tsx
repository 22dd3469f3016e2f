/** What a visitor wrote, as text: an address in it is opened by a control of its own only. */
import type { ComponentChildren, VNode } from 'preact';

import { useWords } from '../shell.ts';

/** Without characters that would change the direction of what follows. */
const ADDRESS = /https?:\/\/[^\s<>"'`{}|\\^\u200e\u200f\u202a-\u202e\u2066-\u2069]{3,2000}/gi;
const TRAILING = /[.,;:!?)\]…»”]+$/;

export function VisitorText({ text }: { readonly text: string }): VNode {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = found.replace(TRAILING, '');
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined) continue;
    parts.push(text.slice(end, index + address.length), <OpenLink key={index} url={url} />);
    end = index + address.length;
  }
  parts.push(text.slice(end));
  return <>{parts}</>;
}

export function OpenLink({ url }: { readonly url: URL }): VNode {
  const { entry } = useWords();
  const name = entry.open(url.host);
  return (
    <a
      class="open-link"
      href={url.href}
      rel="nofollow noopener noreferrer ugc"
      target="_blank"
      title={url.href}
      aria-label={name}
    >
      ↗
    </a>
  );
}
