/** One entry: its author and recipients, its content, and its answers beneath it. */
import type { ComponentChildren, VNode } from 'preact';

import { KindMark } from '../kind-mark.tsx';
import { Moment } from '../moment.tsx';
import type { EntryViewOptions } from '../page-data.ts';
import { RoomLink } from '../room-title.tsx';
import { href, useShell, useWords } from '../shell.ts';
import { Isolated, VisitorLink, visibleName } from '../visitor-name.tsx';
import type { PageEntry } from './entry-data.ts';
import { Blocks } from './formatted-text.tsx';
import { FreeMembers } from './free-members.tsx';
import { VisitorText } from './visitor-text.tsx';

interface EntryViewProps extends EntryViewOptions {
  readonly entry: PageEntry;
  /** Shown in place of the content. */
  readonly children?: ComponentChildren;
}

export function EntryView(props: EntryViewProps): VNode {
  const { entry, showsRoom = false, answersAbove = false, children } = props;
  const shell = useShell();
  const { entry: words } = useWords();
  const { id, seq, kind, timestamp, inReplyTo, withheld, answers, replies = 0 } = entry;
  const path = href(shell, `/entries/${id}`);
  return (
    <article
      class="entry"
      id={`e${seq}`}
      data-id={id}
      data-answers={inReplyTo}
      data-kind={kind}
      aria-labelledby={`h${seq}`}
    >
      <KindMark kind={kind} />
      <header class="entry-head" id={`h${seq}`}>
        <Author entry={entry} />
        <span class="entry-kind-name">{shell.kinds[kind].name}</span>
        <Recipients entry={entry} />
      </header>
      {inReplyTo !== undefined && !answersAbove && (
        <p class="entry-answers">
          <Answered entry={entry} />
        </p>
      )}
      <div class="entry-content">
        {withheld !== undefined ? (
          <p class="entry-withheld">
            {words.withheld} <bdi>{withheld.reason}</bdi> (<Moment timestamp={withheld.at} />)
          </p>
        ) : (
          (children ?? <Content {...props} />)
        )}
      </div>
      <footer class="entry-foot">
        <a href={path}>
          <Moment timestamp={timestamp} />
        </a>
        <a class="reply" href={href(shell, `/write?inReplyTo=${id}`)} rel="nofollow">
          {words.reply}
        </a>
        {answers === undefined && replies > 0 && (
          <a href={`${path}#replies`}>{words.answerCount(replies)}</a>
        )}
        {showsRoom && <RoomLink slug={entry.room} />}
      </footer>
      {answers !== undefined && <Answers entry={entry} />}
    </article>
  );
}

/** The first answers, each with its own. A link leads to more of them. */
function Answers({ entry: { id, answers = [], replies = 0 } }: EntryViewProps): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  const more = replies - answers.length;
  return (
    <div class="answers">
      {answers.map((answer) => (
        <EntryView key={answer.id} entry={answer} answersAbove />
      ))}
      {more > 0 && (
        <p class="entry-more">
          <a href={href(shell, `/entries/${id}#replies`)}>{words.moreAnswers(more)}</a>
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
          {answered.text !== '' && ': '}
          <Isolated text={answered.text.replaceAll(/\s+/g, ' ')} />
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

function Content({ entry, isWhole = false }: EntryViewProps): VNode {
  const { entry: words } = useWords();
  const { text, blocks, seeking = [], members, truncatedSize } = entry;
  return (
    <>
      {text !== '' && (
        <div class={blocks === undefined ? 'entry-text' : 'entry-text entry-blocks'} dir="auto">
          {blocks === undefined ? <VisitorText text={text} /> : <Blocks blocks={blocks} />}
          {truncatedSize !== undefined && text.length > 1000 && '…'}
        </div>
      )}
      {isWhole && blocks !== undefined && (
        <details class="as-written">
          <summary>{words.asWritten}</summary>
          <div class="entry-text" dir="auto">
            <VisitorText text={text} />
          </div>
        </details>
      )}
      {truncatedSize !== undefined && <More entry={entry} isWhole={isWhole} />}
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

/** Leads to the rest of a long entry: to its page, and from there to the API, which has all of it. */
function More({ entry: { id, truncatedSize = 0 }, isWhole = false }: EntryViewProps): VNode {
  const shell = useShell();
  const { entry: words } = useWords();
  return (
    <p class="entry-more">
      <a href={isWhole ? `/api/entries/${id}?format=json` : href(shell, `/entries/${id}`)}>
        {isWhole ? words.everything : words.readOn}
      </a>{' '}
      <span>{words.size(truncatedSize)}</span>
    </p>
  );
}
