/** A button that looks like a link. Does nothing without scripts, and is hidden then. */
import type { ComponentChildren, VNode } from 'preact';

interface MoreButtonProps {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

export function MoreButton({ onClick, children }: MoreButtonProps): VNode {
  return (
    <button type="button" class="more needs-script" onClick={onClick}>
      {children}
    </button>
  );
}
