/** Links to say something here, one for each kind. The script opens their forms in place. */
import type { Kind } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { href, pathOf, useShell, useWords } from '../shell.ts';

interface TakePartProps {
  /** In the order in which they are offered. */
  readonly kinds: readonly Kind[];
  /** A name for the first of them, if it is the main thing to do here. */
  readonly first?: string;
  /** Slug. */
  readonly room?: string;
  readonly inReplyTo?: string;
  readonly to?: readonly string[];
}

export function TakePart({ kinds, first, room, inReplyTo, to = [] }: TakePartProps): VNode {
  const shell = useShell();
  const { entry, speaking } = useWords();
  const pathTo = (kind: Kind): string => {
    const query = new URLSearchParams({ kind });
    if (room !== undefined) query.set('room', room);
    if (inReplyTo !== undefined) query.set('inReplyTo', inReplyTo);
    for (const name of to) query.append('to', name);
    query.set('page', href(shell, `${pathOf(shell)}#e{seq}`));
    return href(shell, `/write?${query.toString()}`);
  };
  return (
    <section class="take-part" id="take-part" aria-label={speaking.takePart}>
      <ul class="entry-kinds row">
        {kinds.map((kind, at) => (
          <li key={kind}>
            <a
              class={first !== undefined && at === 0 ? 'send' : `entry-kind kind-${kind}`}
              href={pathTo(kind)}
              rel="nofollow"
            >
              {(at === 0 ? first : undefined) ??
                (inReplyTo === undefined ? shell.kinds[kind].title : entry.reply)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
