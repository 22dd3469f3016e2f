/** A small drawn mark for each kind: a ripple, a leaf, a seed, a breath. */
import type { Kind } from '@open-presence/protocol';
import type { VNode } from 'preact';

const STROKES: Readonly<Record<Kind, string>> = {
  resonance:
    'M12 10.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3ZM12 6.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM4.2 5.8a9.8 9.8 0 0 0 0 12.4M19.8 5.8a9.8 9.8 0 0 1 0 12.4',
  garden:
    'M12 21v-9M12 15c-5 .6-7.5-2-7.5-6.5 4.8-.2 7.5 1.7 7.5 6.5ZM12 12c-.2-5 2.5-8.3 8-8.5.2 5.2-2.7 8.4-8 8.5Z',
  seeds:
    'M12 3c4.5 4.2 6 7.5 6 10.5a6 6 0 0 1-12 0C6 10.5 7.5 7.2 12 3ZM12 19.5c-1.5-2.5-1.5-5.5 0-8.5',
  shepit:
    'M4 8.5c2.7-2 5.3-2 8 0s5.3 2 8 0M6.5 13c1.8-1.3 3.7-1.3 5.5 0s3.7 1.3 5.5 0M9.5 17.3c1.7-1 3.3-1 5 0',
};

export function KindMark({ kind }: { readonly kind: Kind }): VNode {
  return (
    <svg class="kind-mark" data-kind={kind} viewBox="0 0 24 24" aria-hidden="true">
      <path d={STROKES[kind]} />
    </svg>
  );
}
