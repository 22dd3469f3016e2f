/** A visitor's words within those of a page: isolated, so that they do not turn what stands around them. */
import { withoutDirectionControls } from '@open-presence/protocol';
import type { VNode } from 'preact';

export function VisitorName({ name }: { readonly name: string }): VNode {
  const text = withoutDirectionControls(name);
  return (
    <bdi class="visitor-name" title={text}>
      {text}
    </bdi>
  );
}

export function Isolated({ text }: { readonly text: string }): VNode {
  return <bdi>{withoutDirectionControls(text)}</bdi>;
}
