/**
 * Shows on every page what is new since the last visit, and asks again while the page is visible. `visit.ts`
 * knows when that visit was.
 */
import { createContext, type ComponentChildren, type Context, type VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';

import { Moment } from './moment.tsx';
import { MoreButton } from './more-button.tsx';
import { href, useShell, useWords } from './shell.ts';
import {
  continueVisit,
  fetchNews,
  type Mark,
  markAllRead,
  markRoomRead,
  type NewsCounts,
  readIn,
} from './visit.ts';

export interface News extends NewsCounts {
  readonly since: Mark;
  readonly total: number;
  readonly markAsRead: () => void;
}

/** Undefined on a first visit, and until the gateway has answered. */
const NewsContext: Context<News | undefined> = createContext<News | undefined>(undefined);

export function useNews(): News | undefined {
  return useContext(NewsContext);
}

const INTERVAL_MS = 60_000;

/** Never stops asking: this component stays as long as the page. */
export function WithNews({ children }: { readonly children: ComponentChildren }): VNode {
  const { head, log } = useShell();
  const [news, setNews] = useState<News>();
  useEffect(() => {
    if (head === undefined || log === undefined) return;
    let known = head;
    let prefix = '';
    const update = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      const visit = continueVisit(known, log);
      const counts = await fetchNews(visit);
      const { since } = visit;
      if (counts === undefined || since === undefined) return;
      known = counts.head;
      const total = Object.values(counts.rooms).reduce((sum, count) => sum + count, 0);
      const markAsRead = (): void => {
        markAllRead(known, log);
        onChange();
      };
      const { title } = document;
      const own = title.startsWith(prefix) ? title.slice(prefix.length) : title;
      prefix = counts.inbox === 0 ? '' : `(${counts.inbox}) `;
      document.title = prefix + own;
      void navigator.setAppBadge?.(counts.inbox).catch(() => {});
      setNews({ ...counts, since, total, markAsRead });
    };
    const onChange = (): void => void update().catch(() => {});
    onChange();
    setInterval(onChange, INTERVAL_MS);
    addEventListener('visibilitychange', onChange);
  }, []);
  return <NewsContext.Provider value={news}>{children}</NewsContext.Provider>;
}

/** The seq up to which a room was read before this page. A visitor who leaves the page has read the room. */
export function useSeenIn(slug: string, head: number): number | undefined {
  const { log = '' } = useShell();
  const news = useNews();
  const newest = useRef(head);
  newest.current = news?.head ?? head;
  const [seen, setSeen] = useState<number>();
  useEffect(() => {
    setSeen(readIn(slug, head, log));
    const leave = (): void => markRoomRead(slug, newest.current, log);
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, []);
  return seen === undefined ? undefined : Math.max(seen, news?.since.seq ?? 0);
}

/**
 * Says how many entries are new since when, with a button to mark them as read. `room`: a slug, or all rooms.
 */
export function NewSince({ room }: { readonly room?: string }): VNode | null {
  const news = useNews();
  const { news: words } = useWords();
  if (news === undefined) return null;
  const count = room === undefined ? news.total : (news.rooms[room] ?? 0);
  if (count === 0) return null;
  return (
    <p class="new-since row quiet" role="status">
      <span>
        {words.newSince(count)}{' '}
        <Moment timestamp={new Date(news.since.time).toISOString()} relative />
      </span>
      <MoreButton onClick={news.markAsRead}>{words.markAsRead}</MoreButton>
    </p>
  );
}

/** A link to keep for the next visit to a page of entries, without scripts: it carries the cursor. */
export function SinceLink({ path, head }: { path: string; head: number }): VNode {
  const shell = useShell();
  const { news } = useWords();
  return (
    <p class="quiet without-script">
      <a href={href(shell, `${path}?after=${head}`)}>{news.nextTime}</a>
    </p>
  );
}

const MAX_SHOWN = 100;

/** The number of new entries, beside a link. */
export function Count({ of }: { readonly of: number }): VNode | null {
  const { isNew } = useWords().entry;
  return of === 0 ? null : (
    <span class="count" title={isNew}>
      {of >= MAX_SHOWN ? `${MAX_SHOWN - 1}+` : of}
      <span class="unseen"> {isNew}</span>
    </span>
  );
}
