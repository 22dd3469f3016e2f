/** A name as a visitor gave it: any text of any length, isolated from what stands around it. */
import type { VNode } from 'preact';

export function VisitorName({ name }: { readonly name: string }): VNode {
  return (
    <bdi class="visitor-name" title={name}>
      {name}
    </bdi>
  );
}
