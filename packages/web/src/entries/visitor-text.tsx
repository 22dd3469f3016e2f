/** A visitor's text, in which addresses are links. */
import type { ComponentChildren, RenderableProps, VNode } from 'preact';

/** Ends before characters that would change the direction of the text after them. */
const ADDRESS = /https?:\/\/[^\s<>"'`{}|\\^\u200e\u200f\u202a-\u202e\u2066-\u2069]{3,2000}/gi;
const TRAILING = /[.,;:!?\]…»”]+$/;

export function VisitorText({ text }: { readonly text: string }): VNode {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = addressIn(found);
    if (!URL.canParse(address)) continue;
    parts.push(
      text.slice(end, index),
      <OutsideLink key={index} address={address}>
        {address}
      </OutsideLink>,
    );
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

/** A link that a visitor has written. It may lead anywhere. */
export function OutsideLink({ address, children }: RenderableProps<{ address: string }>): VNode {
  return (
    <a class="outside" href={new URL(address).href} rel="nofollow noopener noreferrer ugc">
      {children}
    </a>
  );
}
