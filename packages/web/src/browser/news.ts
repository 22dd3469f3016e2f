/** Shows what is new since the last visit, and asks again while the page is visible. */
import { filled, main } from './page.ts';
import { showTimes } from './times.ts';
import {
  continueVisit,
  fetchNews,
  inboxRead,
  type Mark,
  markAllRead,
  markInboxRead,
  markRoomRead,
  type NewsCounts,
  ownIn,
  readIn,
} from './visit.ts';

const INTERVAL_MS = 60_000;
const MAX_SHOWN = 100;

const log = main.dataset['log'];
let head = Number(main.dataset['head']);
let prefix = '';
let known: { readonly counts: NewsCounts; readonly since: Mark } | undefined;

/** Entries with a greater seq are new to the visitor; undefined where nothing is marked. */
export let seen: number | undefined;
/** The seqs of what was said here from this device. */
export const said: Set<number> = new Set();

export function startNews(): void {
  if (log === undefined) return;
  beginReading(log);
  const onChange = (): void => void update(log).catch(() => {});
  onChange();
  setInterval(onChange, INTERVAL_MS);
  addEventListener('visibilitychange', onChange);
  document.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('.new-since button') === null) return;
    markAllRead(head, log);
    onChange();
  });
}

/** A visitor who leaves the page of a room has read it; an inbox is read once it is shown. */
function beginReading(log: string): void {
  const slug = document.querySelector<HTMLElement>('.room-head')?.dataset['room'];
  const to = new URLSearchParams(location.search).get('to');
  if (slug !== undefined) {
    seen = readIn(slug, head, log);
    for (const seq of ownIn(slug)) said.add(seq);
    addEventListener('pagehide', () => {
      const shown = document.querySelectorAll('.entries article');
      const seqs = Array.from(shown, ({ id }) => Number(id.slice(1)));
      markRoomRead(slug, Math.max(head, ...seqs), log);
    });
  } else if (location.pathname === '/inbox' && to !== null) {
    seen = inboxRead(to, log);
    markInboxRead(to, head, log);
  }
}

async function update(log: string): Promise<void> {
  if (document.visibilityState !== 'visible') return;
  const visit = continueVisit(head, log);
  const counts = await fetchNews(visit);
  if (counts === undefined || visit.since === undefined) return;
  ({ head } = counts);
  known = { counts, since: visit.since };
  showNews();
  const before = prefix;
  prefix = counts.inbox === 0 ? '' : `(${counts.inbox}) `;
  document.title = prefix + document.title.slice(before.length);
  void navigator.setAppBadge?.(counts.inbox).catch(() => {});
}

/** Gives the page another title, before which the number of new entries stays. */
export function setTitle(title: string): void {
  document.title = prefix + title;
}

/** Fills in the numbers, also in parts of the page that are new. */
export function showNews(): void {
  if (known === undefined) return;
  const { counts, since } = known;
  const total = Object.values(counts.rooms).reduce((sum, count) => sum + count, 0);
  const countOf = (name = 'total'): number =>
    name === 'total' ? total : name === 'inbox' ? counts.inbox : (counts.rooms[name] ?? 0);
  for (const element of document.querySelectorAll<HTMLElement>('[data-count]')) {
    const count = countOf(element.dataset['count']);
    element.hidden = count === 0;
    const number = element.querySelector('span');
    if (number !== null)
      number.textContent = count >= MAX_SHOWN ? `${MAX_SHOWN - 1}+` : String(count);
  }
  for (const element of document.querySelectorAll<HTMLElement>('.new-since')) {
    const count = countOf(element.dataset['room']);
    element.hidden = count === 0;
    const [text, time] = [element.querySelector('span'), element.querySelector('time')];
    if (text !== null) text.textContent = filled(text.dataset['text'] ?? '', count);
    time?.setAttribute('datetime', new Date(since.time).toISOString());
    showTimes(element);
  }
}
