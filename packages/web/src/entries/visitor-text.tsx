/** A visitor's text. The words are no links: a small control after each address opens it. */
import type { ComponentChildren, VNode } from 'preact';

import { useWords } from '../shell.ts';

/** Ends before characters that would change the direction of the text after them. */
const ADDRESS = /https?:\/\/[^\s<>"'`{}|\\^\u200e\u200f\u202a-\u202e\u2066-\u2069]{3,2000}/gi;
const TRAILING = /[.,;:!?\]…»”]+$/;

export function VisitorText({ text }: { readonly text: string }): VNode {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = addressIn(found);
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined) continue;
    parts.push(text.slice(end, index + address.length), <OpenLink key={index} url={url} />);
    end = index + address.length;
  }
  parts.push(text.slice(end));
  return <>{parts}</>;
}

/** Without what ends the sentence. A bracket that was opened in the address belongs to it. */
function addressIn(found: string): string {
  let address = found.replace(TRAILING, '');
  while (address.endsWith(')') && address.split(')').length > address.split('(').length)
    address = address.slice(0, -1).replace(TRAILING, '');
  return address;
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
