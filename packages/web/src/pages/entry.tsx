/** One entry: above it what it answers, below it its answers. */
import type { VNode } from 'preact';

import { EntryList } from '../entries/entry-list.tsx';
import { EntryView } from '../entries/entry-view.tsx';
import type { EntryPage } from '../page-data.ts';
import { href, useShell, useWords } from '../shell.ts';
import { RoomLink } from '../room-title.tsx';
import { TakePart } from '../speaking/take-part.tsx';

export function Page({ data }: { readonly data: EntryPage }): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const { entry, ancestors, replies } = data;
  return (
    <>
      <h1 class="thread-title">
        {shell.kinds[entry.kind].name}
        {shell.rooms.some(({ slug }) => slug === entry.room) && ' · '}
        <RoomLink slug={entry.room} />
      </h1>
      <Ancestors data={data} />
      <div class="thread-entry" data-view="whole">
        <EntryView entry={entry} answersAbove={ancestors.length > 0} isWhole />
        <Links data={data} />
      </div>
      <div class="replies" id="replies">
        <h2>{words.replies}</h2>
        <EntryList list={replies} label={words.replies} empty={words.noReplies} answersAbove />
        <TakePart kinds={['garden']} inReplyTo={entry.id} />
      </div>
    </>
  );
}

function Links({ data: { entry } }: { readonly data: EntryPage }): VNode {
  const shell = useShell();
  const { notice } = useWords();
  const { id } = entry;
  const about = encodeURIComponent(`/entries/${id}`);
  return (
    <p class="thread-links">
      <a href={`/api/entries/${id}?format=json`} type="application/json">
        JSON
      </a>
      <a href={href(shell, `/notice?about=${about}`)} rel="nofollow">
        {notice.report}
      </a>
    </p>
  );
}

/** The chain of entries above. A link leads further up. */
function Ancestors({ data: { entry, ancestors } }: { readonly data: EntryPage }): VNode | null {
  const shell = useShell();
  const { entry: words } = useWords();
  const [top] = ancestors;
  if (top === undefined) return null;
  const next = top.inReplyTo;
  const isLoop = next === entry.id || ancestors.some(({ id }) => id === next);
  return (
    <>
      {next !== undefined && !isLoop && (
        <p class="thread-up">
          <a href={href(shell, `/entries/${next}`)}>{words.furtherUp}</a>
        </p>
      )}
      <section class="ancestors" aria-label={words.above}>
        {ancestors.map((shown, at) => (
          <EntryView key={shown.id} entry={shown} answersAbove={at > 0} />
        ))}
      </section>
    </>
  );
}
