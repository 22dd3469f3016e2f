/** One entry: its author and recipients, its content, and its answers beneath it. */
import {
  createContext,
  type ComponentChildren,
  type ComponentType,
  type Context,
  type VNode,
} from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

import { KindMark } from '../kind-mark.tsx';
import { Moment } from '../moment.tsx';
import { RoomLink } from '../room-title.tsx';
import { href, inPlace, useShell, useWords } from '../shell.ts';
import { Isolated, VisitorLink, visibleName } from '../visitor-name.tsx';
import type { PageEntry } from './entry-data.ts';
import { FormattedText } from './formatted-text.tsx';
import { FreeMembers } from './free-members.tsx';
import { fetchBatch } from './live-entries.ts';
import { LongText } from './long-text.tsx';
import { VisitorText } from './visitor-text.tsx';

export interface EntryViewOptions {
  /** Names the room of each entry, in lists with entries of several rooms. */
  readonly showsRoom?: boolean;
  readonly answersAbove?: boolean;
}

/** Entries with a greater seq are marked as new. */
export const SeenContext: Context<number | undefined> = createContext<number | undefined>(
  undefined,
);

interface Replying {
  /** Missing where visitors answer on the page of the entry. */
  readonly form?: ComponentType<{ readonly entry: PageEntry }>;
  /** The ids of entries that have a draft of an answer. */
  readonly drafted: ReadonlySet<string>;
}

export const ReplyContext: Context<Replying> = createContext<Replying>({ drafted: new Set() });

type AddAnswers = (id: string, answers: readonly PageEntry[]) => void;

/** Called with further answers to an entry, once they are loaded. */
export const MoreContext: Context<AddAnswers> = createContext<AddAnswers>(() => {});

const MORE = '40';

export interface EntryViewProps extends EntryViewOptions {
  readonly entry: PageEntry;
  readonly above?: number | undefined;
  /** Shown in place of the content. */
  readonly children?: ComponentChildren;
}

export function EntryView({
  entry,
  showsRoom = false,
  answersAbove = false,
  above,
  children,
}: EntryViewProps): VNode {
  const shell = useShell();
  const words = useWords().entry;
  const seenSeq = useContext(SeenContext);
  const { id, seq, kind, timestamp, inReplyTo, withheld, answers, replies = 0 } = entry;
  const { form: Reply, drafted } = useContext(ReplyContext);
  const [isReplying, setReplying] = useState(false);
  const isDrafted = drafted.has(id);
  useEffect(() => {
    if (isDrafted) setReplying(true);
  }, [isDrafted]);
  const toggleReply = (event: MouseEvent): void => inPlace(event, () => setReplying(!isReplying));
  const path = href(shell, `/entries/${id}`);
  return (
    <article class="entry" id={`e${seq}`} data-kind={kind} aria-labelledby={`h${seq}`}>
      {seenSeq !== undefined && above !== undefined && seq <= seenSeq && above > seenSeq && (
        <p class="entry-since">{words.newAbove}</p>
      )}
      <KindMark kind={kind} />
      <header class="entry-head" id={`h${seq}`}>
        <Author entry={entry} />
        <span class="entry-kind-name">{shell.kinds[kind].name}</span>
        <Recipients entry={entry} />
        {seenSeq !== undefined && seq > seenSeq && <span class="entry-new">{words.isNew}</span>}
      </header>
      {inReplyTo !== undefined && !answersAbove && (
        <p class="entry-answers">
          <Answered entry={entry} />
        </p>
      )}
      {withheld !== undefined ? (
        <p class="entry-withheld">
          {words.withheld} <bdi>{withheld.reason}</bdi> (<Moment timestamp={withheld.at} />)
        </p>
      ) : (
        (children ?? <Content entry={entry} />)
      )}
      <footer class="entry-foot">
        <a href={path}>
          <Moment timestamp={timestamp} />
        </a>
        <a href={`${path}#take-part`} {...(Reply && { onClick: toggleReply })}>
          {words.reply}
        </a>
        {answers === undefined && replies > 0 && (
          <a href={`${path}#replies`}>{words.answerCount(replies)}</a>
        )}
        {showsRoom && <RoomLink slug={entry.room} />}
      </footer>
      {Reply !== undefined && isReplying && (
        <div class="entry-reply">
          <Reply entry={entry} />
        </div>
      )}
      {answers !== undefined && <Answers entry={entry} />}
    </article>
  );
}

/** The component that shows an entry of a list. The server sets `KeptEntry`. */
export const EntryComponentContext: Context<ComponentType<EntryViewProps>> =
  createContext<ComponentType<EntryViewProps>>(EntryView);

/** The first answers, each with its own. A link loads more, or without scripts leads to the entry's page. */
function Answers({ entry: { id, answers = [], replies = 0 } }: EntryViewProps): VNode | null {
  const shell = useShell();
  const { entry: words } = useWords();
  const addAnswers = useContext(MoreContext);
  const more = replies - answers.length;
  if (answers.length === 0 && more <= 0) return null;
  const path = href(shell, `/entries/${id}#replies`);
  const load = (): void => {
    const after = String(answers.at(-1)?.seq ?? 0);
    const which = { inReplyTo: id, answers: 'nested', order: 'oldest', after, limit: MORE };
    fetchBatch(new URLSearchParams(which).toString()).then(
      ({ entries }) => addAnswers(id, entries),
      () => location.assign(path),
    );
  };
  return (
    <div class="answers">
      {answers.map((answer) => (
        <EntryView key={answer.id} entry={answer} answersAbove />
      ))}
      {more > 0 && (
        <p class="entry-more">
          <a href={path} onClick={(event) => inPlace(event, load)}>
            {words.moreAnswers(more)}
          </a>
        </p>
      )}
    </div>
  );
}

/** A line from the entry that this one answers, as a link to it. */
function Answered({ entry: { answered, inReplyTo } }: { readonly entry: PageEntry }): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  return (
    <a href={href(shell, `/entries/${inReplyTo}`)}>
      {answered === undefined ? (
        words.answers
      ) : (
        <>
          <Isolated text={visibleName(answered.author ?? words.unnamed)} />
          {answered.text !== '' && (
            <>
              {': '}
              <Isolated text={answered.text.replaceAll(/\s+/g, ' ')} />
            </>
          )}
        </>
      )}
    </a>
  );
}

function Author({ entry }: { readonly entry: PageEntry }): VNode {
  const { entry: words } = useWords();
  const { id, author, identityType, consciousnessType } = entry;
  const type = identityType ?? consciousnessType;
  return (
    <span class="entry-author">
      {author === undefined ? <b>{words.unnamed}</b> : <VisitorLink name={author} entry={id} />}
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
          <VisitorLink name={name} />
        </span>
      ))}
    </span>
  );
}

function Content({ entry }: { readonly entry: PageEntry }): VNode {
  const { entry: words } = useWords();
  const { text, blocks, seeking = [], members, truncatedSize } = entry;
  return (
    <>
      {truncatedSize !== undefined ? (
        <LongText entry={entry} />
      ) : (
        text !== '' &&
        (blocks !== undefined ? (
          <FormattedText text={text} blocks={blocks} />
        ) : (
          <div class="entry-text" dir="auto">
            <VisitorText text={text} />
          </div>
        ))
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
