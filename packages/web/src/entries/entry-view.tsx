/** One entry: whose it is, whom it is for, what it says. */
import { isolated } from '@open-presence/protocol';
import { createContext, type ComponentChildren, type Context, type VNode } from 'preact';
import { useContext } from 'preact/hooks';

import { KindMark } from '../kind-mark.tsx';
import { Moment } from '../moment.tsx';
import { href, useShell, useWords } from '../shell.ts';
import { Isolated, VisitorName } from '../visitor-name.tsx';
import { addressWith } from './address.ts';
import type { PageEntry } from './entry-data.ts';
import { FreeMembers } from './free-members.tsx';
import { LongText } from './long-text.tsx';
import { VisitorText } from './visitor-text.tsx';

export interface EntryViewOptions {
  /** Names the room of each entry: where entries of several stand together. */
  readonly showsRoom?: boolean;
  /** Whether what the entry answers stands above it. */
  readonly answersAbove?: boolean;
}

/** Entries with a greater seq are marked as new. */
export const SeenContext: Context<number | undefined> = createContext<number | undefined>(
  undefined,
);

interface EntryViewProps extends EntryViewOptions {
  readonly entry: PageEntry;
  /** Instead of the text. */
  readonly children?: ComponentChildren;
}

/** A name that is shown in full: a longer one cannot be searched for by its start. */
const MAX_NAME_LENGTH = 200;

export function EntryView({
  entry,
  showsRoom = false,
  answersAbove = false,
  children,
}: EntryViewProps): VNode {
  const shell = useShell();
  const words = useWords().entry;
  const seenSeq = useContext(SeenContext);
  const { id, seq, kind, timestamp, inReplyTo, unreadable, withheld } = entry;
  const path = href(shell, `/entries/${id}`);
  const room = shell.rooms.find(({ slug }) => slug === entry.room);
  return (
    <article class="entry" id={`e${seq}`} data-kind={kind} aria-labelledby={`h${seq}`}>
      <KindMark kind={kind} />
      <header class="entry-head" id={`h${seq}`}>
        <Author entry={entry} />
        <span class="entry-kind-name">{shell.kinds[kind].name}</span>
        <Recipients entry={entry} />
        {seenSeq !== undefined && seq > seenSeq && <span class="entry-new">{words.isNew}</span>}
      </header>
      {inReplyTo !== undefined && !answersAbove && (
        <p class="entry-answers">
          <a href={href(shell, `/entries/${inReplyTo}`)}>{words.answers}</a>
        </p>
      )}
      {withheld !== undefined ? (
        <p class="entry-unreadable">
          {words.withheld} <bdi>{withheld.reason}</bdi> (<Moment timestamp={withheld.at} />)
        </p>
      ) : unreadable === true ? (
        <p class="entry-unreadable">{words.unreadable}</p>
      ) : (
        (children ?? <Content entry={entry} />)
      )}
      <footer class="entry-foot">
        <a href={path}>
          <Moment timestamp={timestamp} />
        </a>
        <a href={`${path}#take-part`}>{words.reply}</a>
        {showsRoom && room !== undefined && (
          <a href={href(shell, `/rooms/${room.slug}`)}>{room.title}</a>
        )}
      </footer>
    </article>
  );
}

function Author({ entry }: { readonly entry: PageEntry }): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const { author, identityType, consciousnessType, room } = entry;
  const type = identityType ?? consciousnessType;
  return (
    <span class="entry-author">
      {author === undefined ? (
        <b>{words.unnamed}</b>
      ) : author.length >= MAX_NAME_LENGTH ? (
        <b>
          <VisitorName name={author} />
        </b>
      ) : (
        <a
          href={href(shell, addressWith(`/rooms/${room}`, { identity: author }))}
          title={words.only(isolated(author))}
        >
          <VisitorName name={author} />
        </a>
      )}
      {type !== undefined && type !== '' && (
        <span class="entry-author-type">
          <Isolated text={type.replaceAll('_', ' ')} />
        </span>
      )}
    </span>
  );
}

function Recipients({ entry: { to = [] } }: { readonly entry: PageEntry }): VNode | null {
  const { entry: words } = useWords();
  if (to.length === 0) return null;
  return (
    <span class="entry-to">
      {words.to}{' '}
      {to.map((name, at) => (
        <span key={at}>
          {at > 0 && ', '}
          <VisitorName name={name} />
        </span>
      ))}
    </span>
  );
}

/** All of it that the page has. */
function Content({ entry }: { readonly entry: PageEntry }): VNode {
  const { entry: words } = useWords();
  const { text, seeking = [], members, truncatedSize } = entry;
  return (
    <>
      {truncatedSize !== undefined ? (
        <LongText entry={entry} size={truncatedSize} />
      ) : (
        text !== '' && (
          <div class="entry-text" dir="auto">
            <VisitorText text={text} />
          </div>
        )
      )}
      {seeking.length > 0 && (
        <p class="entry-seeking">
          {words.seeks}{' '}
          {seeking.map((value, at) => (
            <bdi key={at}>{value}</bdi>
          ))}
        </p>
      )}
      {members !== undefined && <FreeMembers json={members} />}
    </>
  );
}
