/** One entry: above it what it answers, below it its answers. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { PageEntry } from '../entries/entry-data.ts';
import { EntryList } from '../entries/entry-list.tsx';
import { EntryView } from '../entries/entry-view.tsx';
import { FreeMembers } from '../entries/free-members.tsx';
import { TextReader } from '../entries/text-reader.tsx';
import { withoutWithheld } from '../entries/withheld-entry.ts';
import { fetchJson } from '../fetch-json.ts';
import type { EntryPage } from '../page-data.ts';
import { href, inPlace, openRoom, useShell, useWords } from '../shell.ts';
import { RoomLink } from '../room-title.tsx';
import { Replies } from '../speaking/replies.tsx';
import { TakePart } from '../speaking/take-part.tsx';
import { isWholeName } from '../visitor-name.tsx';

export function Page({ data }: { readonly data: EntryPage }): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const { replies } = data;
  const [entry, setEntry] = useState(data.entry);
  const [ancestors, setAncestors] = useState(data.ancestors);
  const piece = entry.withheld === undefined ? data.piece : undefined;
  const { members, truncatedSize } = entry;
  const { name } = shell.kinds[entry.kind];
  // The title has words of the entry, too.
  useEffect(() => {
    if (entry.withheld !== undefined)
      document.title = `${name}: ${words.unnamed} · ${shell.service}`;
  }, [entry.withheld]);
  return (
    <>
      <h1 class="thread-title">
        {name}
        {shell.rooms.some(({ slug }) => slug === entry.room) && ' · '}
        <RoomLink slug={entry.room} />
      </h1>
      <Ancestors
        shown={ancestors}
        of={entry}
        onMore={(entries) => setAncestors((shown) => [...entries, ...shown])}
      />
      <div class="thread-entry">
        <EntryView entry={entry} answersAbove={ancestors.length > 0}>
          {piece && (
            <>
              <TextReader id={entry.id} piece={piece} size={truncatedSize ?? 0} />
              {piece.of === 'text' && members !== undefined && <FreeMembers json={members} />}
            </>
          )}
        </EntryView>
        <Links data={data} />
      </div>
      <div class="replies" id="replies">
        <h2>{words.replies}</h2>
        <Replies>
          <EntryList
            list={replies}
            label={words.replies}
            empty={words.noReplies}
            nestedIn={entry.id}
            answersAbove
            onWithheld={(withholdings) => {
              setEntry((shown) => withoutWithheld([shown], withholdings)[0] ?? shown);
              setAncestors((shown) => withoutWithheld(shown, withholdings));
            }}
          />
        </Replies>
        <TakePart
          kinds={['garden']}
          room={openRoom(shell, entry.room)}
          inReplyTo={entry.id}
          to={isWholeName(entry.author) ? [entry.author] : undefined}
        />
      </div>
    </>
  );
}

function Links({ data: { entry, piece } }: { readonly data: EntryPage }): VNode {
  const shell = useShell();
  const { entry: words, notice } = useWords();
  const { id, truncatedSize } = entry;
  const path = `/entries/${id}`;
  return (
    <p class="thread-links">
      <a href={`/api/entries/${id}?format=json`} type="application/json">
        JSON
      </a>
      {truncatedSize !== undefined && piece?.of !== 'json' && (
        <a href={href(shell, `${path}?of=json`)}>{words.everything}</a>
      )}
      <a href={href(shell, `/notice?about=${encodeURIComponent(path)}`)} rel="nofollow">
        {notice.report}
      </a>
      {piece?.of === 'json' && <a href={href(shell, path)}>{words.textAlone}</a>}
    </p>
  );
}

interface AncestorsProps {
  readonly shown: readonly PageEntry[];
  readonly of: PageEntry;
  /** Called with the entries further up, when they are loaded. */
  readonly onMore: (entries: readonly PageEntry[]) => void;
}

/** The chain of entries above. A link loads more of it. */
function Ancestors({ shown, of, onMore }: AncestorsProps): VNode | null {
  const shell = useShell();
  const { entry: words } = useWords();
  const [top] = shown;
  if (top === undefined) return null;
  const next = top.inReplyTo;
  const isLoop = next === of.id || shown.some(({ id }) => id === next);
  const path = href(shell, `/entries/${next}`);
  const load = (id: string): void =>
    void readAncestors(id).then(onMore, () => location.assign(path));
  return (
    <>
      {next !== undefined && !isLoop && (
        <p class="thread-up">
          <a href={path} onClick={(event) => inPlace(event, () => load(next))}>
            {words.furtherUp}
          </a>
        </p>
      )}
      <section class="ancestors" aria-label={words.above}>
        {shown.map((entry, at) => (
          <EntryView key={entry.id} entry={entry} answersAbove={at > 0} />
        ))}
      </section>
    </>
  );
}

const STEPS = 5;

async function readAncestors(id: string): Promise<PageEntry[]> {
  const entries: PageEntry[] = [];
  for (let next: string | undefined = id; next !== undefined && entries.length < STEPS;) {
    const entry = (await fetchJson(`/web/entries/${next}`)) as PageEntry;
    entries.unshift(entry);
    next = entry.inReplyTo;
  }
  return entries;
}
