/**
 * Changes the page as entries come and go: adds new ones to its list, takes withheld words out at once, and
 * replaces other parts by what the gateway makes of them now. What is new above the reader waits until they ask
 * for it, so that it never moves what they read.
 */
import { said, seen, setTitle, showNews } from './news.ts';
import { elementWithId, fetchDocument, filled, isForNewTab, languageQuery, main } from './page.ts';
import { showTimes } from './times.ts';

export const list = document.querySelector<HTMLElement>('.entries[data-order]');
const isNewestFirst = list?.dataset['order'] === 'newest';
const button = list?.querySelector<HTMLButtonElement>('.entries-news button');
/** More entries than this at once are counted, and shown when the reader asks. */
const MAX_ADDED = 20;

/** New entries that are not on the page yet, and how many there are; with a gap before them, they are only counted. */
let waiting: HTMLElement[] = [];
let count = 0;
let hasGap = false;
/** The seqs of what was said on this page. */
const own = new Set<string>();

/** After the news, which know what is new. */
export function startList(): void {
  if (list === null) return;
  for (const article of list.querySelectorAll('article')) markNew(article);
  button?.addEventListener('click', () => void showNewest());
  addEventListener('scroll', onScroll, { passive: true });
  list.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[rel="next"]');
    if (link === null || isForNewTab(event)) return;
    event.preventDefault();
    void appendNextPage(link);
  });
}

function onScroll(): void {
  if (waiting.length > 0 && isReachable()) addWaiting();
}

/** Parameters by which the gateway shows an entry as this list does. */
export function viewQuery(view = list?.dataset['view'] ?? ''): string {
  const query = languageQuery();
  if (view !== '') query.set('view', view);
  return query.toString();
}

/** Adds entries in the order of the log, each once. `isGap`: there are others before them. */
export function addEntries(articles: readonly HTMLElement[], isGap = false): void {
  let isOwn = false;
  for (const article of articles) {
    if (document.getElementById(article.id) !== null || isAnswerBelow(article)) continue;
    if (waiting.some(({ id }) => id === article.id)) continue;
    waiting.push(article);
    count += 1;
    isOwn ||= own.has(article.id);
  }
  hasGap ||= isGap || !isAtLiveEnd() || waiting.length > MAX_ADDED;
  if (hasGap) waiting = [];
  if (isOwn) showOwn();
  else if (!hasGap && isReachable()) addWaiting();
  else showCount();
}

function showOwn(): void {
  if (hasGap) void showNewest();
  else addWaiting();
}

function addWaiting(): void {
  const articles = waiting;
  if (articles.length > 0) list?.querySelector('.entries-empty')?.remove();
  waiting = [];
  count = 0;
  for (const article of articles) {
    if (isNewestFirst) list?.querySelector('article, .entries-news')?.before(article);
    else list?.querySelector('.entries-news')?.before(article);
    prepare(article);
  }
  showCount();
}

/** Puts an answer beneath the entry that it answers, or counts it there. False for an entry of the list itself. */
function isAnswerBelow(article: HTMLElement): boolean {
  if (list === null) return false;
  const above = elementWithId(article.dataset['answers']);
  if (list.dataset['view'] !== 'above') {
    if (above !== null && list.contains(above)) refresh(above).catch(() => {});
    return false;
  }
  if (above === null || !list.contains(above)) return !above?.closest('.thread-entry');
  const answers = above.querySelector(':scope > .answers');
  // The answers on show have no gap.
  const isGap = answers?.querySelector(':scope > .entry-more') && !own.has(article.id);
  if (!answers || isGap) return true;
  answers.append(article);
  prepare(article);
  return true;
}

/** Whether the list has no page beyond its end at which new entries come. */
function isAtLiveEnd(): boolean {
  return list?.querySelector(`a[rel="${isNewestFirst ? 'prev' : 'next'}"]`) === null;
}

/** Whether new entries can be added without moving what somebody reads or writes. */
function isReachable(): boolean {
  if (list === null) return false;
  if (!isNewestFirst) return true;
  return list.getBoundingClientRect().top > -8 && !list.contains(document.activeElement);
}

function showCount(): void {
  if (!button) return;
  button.hidden = count === 0;
  button.textContent = filled(button.dataset['text'] ?? '', count);
}

/** The address of the page, or of its list, without a place in the list. */
function addressOfStart(): URL {
  const address = new URL(location.href);
  if (list !== null) for (const name of ['before', 'after']) address.searchParams.delete(name);
  address.hash = '';
  return address;
}

/** Shows the page of the list that has the newest entries. */
async function showNewest(): Promise<void> {
  if (list === null) return;
  const address = addressOfStart();
  if (!isNewestFirst) address.searchParams.set('before', String(Number.MAX_SAFE_INTEGER));
  const fresh = (await fetchDocument(address.href)).querySelector('.entries[data-order]');
  if (fresh === null) return;
  waiting = [];
  count = 0;
  hasGap = false;
  showCount();
  for (const child of list.querySelectorAll(':scope > :not(.entries-news)')) child.remove();
  const news = list.querySelector('.entries-news');
  for (const child of fresh.querySelectorAll<HTMLElement>(':scope > :not(.entries-news)')) {
    news?.before(child);
    prepare(child);
  }
  history.replaceState(history.state, '', address);
  // The button goes away, and the focus would go with it.
  list.focus({ preventScroll: true });
  if (isNewestFirst) list.scrollIntoView();
  else news?.scrollIntoView();
}

/** Appends the entries of the next page, and leads on from there. The address follows. */
async function appendNextPage(link: HTMLAnchorElement): Promise<void> {
  const next = await fetchDocument(link.href).catch(() => undefined);
  const more = next?.querySelectorAll<HTMLElement>(
    '.entries[data-order] > :is(article, .entries-more:has([rel="next"]))',
  );
  if (more === undefined) return location.assign(link.href);
  const [first] = more;
  for (const element of more) {
    link.parentElement?.before(element);
    prepare(element);
  }
  link.parentElement?.remove();
  first?.querySelector('a')?.focus({ preventScroll: true });
  history.replaceState(history.state, '', link.href);
}

/** What every part needs that comes to the page. */
function prepare(element: HTMLElement): void {
  showTimes(element);
  markNew(element);
  if (own.has(element.id)) showAsOwn(element);
}

function markNew(article: HTMLElement): void {
  const seq = Number(article.id.slice(1));
  if (seen === undefined || list === null || article.tagName !== 'ARTICLE') return;
  if (seq > seen) {
    if (!said.has(seq)) showAsNew(article, list.dataset['new'] ?? '');
    return;
  }
  const before = article.previousElementSibling;
  if (!isNewestFirst || !(Number(before?.id.slice(1)) > seen)) return;
  const line = document.createElement('p');
  line.className = 'entry-since';
  line.textContent = list.dataset['newAbove'] ?? '';
  article.prepend(line);
}

function showAsNew(article: HTMLElement, word: string): void {
  const sign = document.createElement('span');
  sign.className = 'entry-new';
  sign.textContent = word;
  article.querySelector(':scope > .entry-head')?.append(sign);
}

/** Marks what was said on this page, once it is here, and brings it into view. */
export function expectOwn(seq: number): void {
  const id = `e${seq}`;
  own.add(id);
  const element = document.getElementById(id);
  if (element !== null) showAsOwn(element);
  else if (count > 0) showOwn();
}

function showAsOwn(element: HTMLElement): void {
  element.querySelector(':scope > .entry-head > .entry-new')?.remove();
  element.classList.add('own');
  element.scrollIntoView({ block: 'center' });
  const template = document.querySelector<HTMLElement>('.footer [data-copied]');
  const foot = element.querySelector(':scope > :is(.entry-foot, .brief-head)');
  if (template === null || foot === null || foot.querySelector('[data-address]') !== null) return;
  const copy = document.createElement('button');
  copy.type = 'button';
  copy.className = 'more';
  copy.textContent = template.dataset['copy'] ?? '';
  copy.dataset['copied'] = template.dataset['copied'] ?? '';
  copy.dataset['address'] = `${location.origin}/entries/${element.dataset['id']}`;
  foot.append(copy);
}

/** Counts the times that an entry was asked for, so that the latest answer counts. */
const asked = new WeakMap<Element, number>();

/** Shows an entry of the list as it is now, without moving what is beneath it. */
async function refresh(shown: HTMLElement): Promise<void> {
  const turn = (asked.get(shown) ?? 0) + 1;
  asked.set(shown, turn);
  const view = shown.closest<HTMLElement>('[data-view]')?.dataset['view'];
  const path = `/web/entries/${shown.dataset['id']}?${viewQuery(view)}`;
  const fresh = (await fetchDocument(path)).querySelector<HTMLElement>('article');
  if (fresh === null || asked.get(shown) !== turn) return;
  for (const part of ['.entry-head', '.entry-answers', '.entry-content', '.entry-foot']) {
    const [old, now] = [shown, fresh].map((one) => one.querySelector(`:scope > ${part}`));
    if (old && now) old.replaceWith(now);
    else if (now) shown.querySelector(':scope > .entry-content')?.before(now);
    else old?.remove();
  }
  shown.hidden = false;
  prepare(shown);
}

/** One withholding of an entry, or the end of one, as the gateway reports it (PROTOCOL.md section 4.7). */
export interface Withholding {
  readonly number: number;
  readonly id: string;
  readonly state: string;
}

/** The parts of an entry that have words of its visitor, but not of those who answer it. */
const WORDS = ':scope > :is(.entry-head, .entry-answers, .entry-content)';

/** Takes the words of withheld entries out at once, then shows what stands in their place. */
export async function applyCases(cases: readonly Withholding[]): Promise<void> {
  const changed = new Set<HTMLElement>();
  for (const { id, state } of cases) {
    waiting = waiting.filter(({ dataset }) => dataset['id'] !== id && dataset['answers'] !== id);
    const named = `[data-id="${CSS.escape(id)}"]`;
    const answering = `article[data-answers="${CSS.escape(id)}"]:has(> .entry-answers)`;
    for (const element of document.querySelectorAll<HTMLElement>(`${named}, ${answering}`)) {
      changed.add(element);
      const line = element.querySelector<HTMLElement>(':scope > .entry-answers');
      if (state === 'shown') continue;
      if (element.dataset['id'] !== id) line?.replaceChildren();
      else for (const part of element.querySelectorAll(WORDS)) part.replaceChildren();
    }
  }
  // They may have the words, too, until they are made anew.
  for (const part of document.querySelectorAll<HTMLElement>('[data-fresh]'))
    part.style.visibility = 'hidden';
  document.dispatchEvent(new CustomEvent('withheld', { detail: cases.map(({ id }) => id) }));
  const articles = [...changed].filter((element) => element.closest('[data-fresh]') === null);
  await Promise.all([freshen(), ...articles.map(refresh)]);
}

/** The HTML of parts as the gateway has made it, before the script has changed it. */
const made = new WeakMap<Element, string>();

export function rememberFresh(): void {
  for (const part of document.querySelectorAll('[data-fresh]')) made.set(part, part.outerHTML);
}

let freshTurn = 0;

/** Replaces the parts of the page that change, apart from its list, by those of the page as it is now. */
export async function freshen(): Promise<void> {
  freshTurn += 1;
  const turn = freshTurn;
  const page = await fetchDocument(location.pathname + location.search);
  // A later one knows more.
  if (turn === freshTurn) showFresh(page);
}

function showFresh(page: Document): void {
  setTitle(page.title);
  for (const part of document.querySelectorAll<HTMLElement>('[data-fresh]')) {
    const now = page.querySelector<HTMLElement>(`[data-fresh="${part.dataset['fresh']}"]`);
    part.style.visibility = '';
    if (now === null) part.replaceChildren();
    else if (made.get(part) !== now.outerHTML) replacePart(part, now);
  }
  showNews();
  document.dispatchEvent(new Event('freshened'));
}

function replacePart(part: HTMLElement, now: HTMLElement): void {
  const focused = part.contains(document.activeElement)
    ? document.activeElement?.getAttribute('href')
    : undefined;
  made.set(now, now.outerHTML);
  part.replaceWith(now);
  showTimes(now);
  for (const id of own) {
    const element = document.getElementById(id);
    if (element !== null && now.contains(element)) showAsOwn(element);
  }
  if (focused) now.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

/** Adds the entries of the page that have come since, and freshens its other parts. Resolves with its newest seq. */
export async function catchUp(cursor: number): Promise<number> {
  const page = await fetchDocument(addressOfStart().href);
  const { log, head } = page.getElementById('content')?.dataset ?? {};
  if (isOtherLog(log)) return cursor;
  showFresh(page);
  const articles = Array.from(page.querySelectorAll<HTMLElement>('.entries[data-order] article'));
  const seqs = articles.map(({ id }) => Number(id.slice(1)));
  const missed = articles
    .filter((_, at) => (seqs[at] ?? 0) > cursor)
    .toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
  const isGap = isNewestFirst && missed.length > 0 && missed.length === articles.length;
  addEntries(missed, isGap && page.querySelector('.entries a[rel="next"]') !== null);
  return Number(head);
}

/** The seqs of another log belong to other entries: the page begins anew, at no place that its address names. */
export function isOtherLog(log: string | undefined): boolean {
  if (log === undefined || log === main.dataset['log']) return false;
  const address = new URL(location.href);
  for (const name of ['before', 'after']) address.searchParams.delete(name);
  location.replace(address);
  return true;
}
