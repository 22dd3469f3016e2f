/** A button that looks like a link. Does nothing without scripts, and is hidden then. */
import type { RenderableProps, VNode } from 'preact';

export function MoreButton({ onClick, children }: RenderableProps<{ onClick: () => void }>): VNode {
  return (
    <button type="button" class="more needs-script" onClick={onClick}>
      {children}
    </button>
  );
}
