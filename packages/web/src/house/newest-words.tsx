import type { VNode } from 'preact';

import type { PageEntry } from '../entries/entry-data.ts';
import { KindMark } from '../kind-mark.tsx';
import { Moment } from '../moment.tsx';
import { href, useShell, useWords } from '../shell.ts';
import { VisitorName } from '../visitor-name.tsx';

export function NewestWords({ entries }: { readonly entries: readonly PageEntry[] }): VNode {
  const { house } = useWords();
  return (
    <section class="newest" aria-labelledby="newest">
      <h2 id="newest">{house.newest}</h2>
      {entries.length === 0 ? (
        <p>{house.noWords}</p>
      ) : (
        <ol class="newest-words">
          {entries.map((entry) => (
            <BriefEntry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
    </section>
  );
}

/** The start of an entry, which leads to the whole. */
function BriefEntry({ entry }: { readonly entry: PageEntry }): VNode {
  const shell = useShell();
  const { house, entry: words } = useWords();
  const { withheld } = entry;
  const { name } = shell.kinds[entry.kind];
  const room = shell.rooms.find(({ slug }) => slug === entry.room);
  return (
    <li class="brief" data-kind={entry.kind}>
      <KindMark kind={entry.kind} />
      <p class="brief-head">
        <b>{entry.author === undefined ? house.unnamed : <VisitorName name={entry.author} />}</b>
        <a href={href(shell, `/entries/${entry.id}`)}>
          {name}, <Moment timestamp={entry.timestamp} relative />
        </a>
        {room !== undefined && <a href={href(shell, `/rooms/${room.slug}`)}>{room.title}</a>}
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
