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
  const { id, seq, kind, author, timestamp, room, withheld } = entry;
  return (
    <li class="brief" id={`e${seq}`} data-id={id} data-kind={kind}>
      <KindMark kind={kind} />
      <p class="brief-head">
        <b>{author === undefined ? words.unnamed : <VisitorLink name={author} entry={id} />}</b>
        <a href={href(shell, `/entries/${id}`)}>
          {shell.kinds[kind].name}, <Moment timestamp={timestamp} relative />
        </a>
        <RoomLink slug={room} />
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
