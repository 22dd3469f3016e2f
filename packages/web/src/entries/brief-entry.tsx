/** The start of an entry, with a link to the whole. */
import type { RenderableProps, VNode } from 'preact';

import { KindMark } from '../kind-mark.tsx';
import { Moment } from '../moment.tsx';
import { RoomLink } from '../room-title.tsx';
import { href, useShell, useWords } from '../shell.ts';
import { VisitorLink } from '../visitor-name.tsx';
import type { PageEntry } from './entry-data.ts';

/** `children`: further facts about the entry, beside its time and its room. */
export function BriefEntry({ entry, children }: RenderableProps<{ entry: PageEntry }>): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const { withheld } = entry;
  const { name } = shell.kinds[entry.kind];
  return (
    <li class="brief" data-kind={entry.kind}>
      <KindMark kind={entry.kind} />
      <p class="brief-head">
        <b>
          {entry.author === undefined ? (
            words.unnamed
          ) : (
            <VisitorLink name={entry.author} entry={entry.id} />
          )}
        </b>
        <a href={href(shell, `/entries/${entry.id}`)}>
          {name}, <Moment timestamp={entry.timestamp} relative />
        </a>
        <RoomLink slug={entry.room} />
        {children}
      </p>
      <p class="brief-text" dir="auto">
        {withheld === undefined ? briefText(entry) : `${words.withheld} ${withheld.reason}`}
      </p>
    </li>
  );
}

function briefText({ text, seeking, members }: PageEntry): string {
  if (text !== '') return text;
  return seeking === undefined ? (members ?? '') : seeking.join(', ');
}
