/**
 * Hears what happens: new entries, who comes and goes, and what is withheld. Closes its stream while the page is
 * hidden, because browsers open few connections to one host. After an interruption the page first catches up. A page
 * that gets no stream, since others have them, catches up again and again.
 */
import { KINDS } from '@open-presence/protocol';

import { rememberedAuthor } from './form/remembered-author.ts';
import {
  addEntries,
  applyCases,
  catchUp,
  freshen,
  isOtherLog,
  list,
  viewQuery,
  type Withholding,
} from './list.ts';
import { fetchJson, main, pageName, parsed } from './page.ts';
import { takeSlot } from './stream-slot.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** How often a page without a stream asks. */
const POLL_MS = 5000;
/** Entries that come within this time are shown together. */
const COLLECT_MS = 150;
/** The house is made anew no more often than this. */
const FRESHEN_MS = 2000;
/** Of more cases than this, a page is made anew. */
const MAX_CASES = 200;

export function startLive(): void {
  const { live } = main.dataset;
  if (live !== undefined) new LivePage(live).start();
}

class LivePage {
  readonly #query: string;
  #cursor = Number(main.dataset['head']);
  /** The number of the newest case that the page knows. */
  #lastCase = Number(main.dataset['cases']);
  #source: EventSource | undefined;
  #giveBackSlot: (() => void) | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #collected: HTMLElement[] = [];
  #freshenTimer: ReturnType<typeof setTimeout> | undefined;
  #freshened = 0;
  /** Counts connections, so that late events of an earlier one can be left out. */
  #attempt = 0;
  /** Whether a stream was open before, or the browser shows a page again that it has kept. */
  #mayHaveMissed = isKeptPage();

  constructor(query: string) {
    this.#query = query;
  }

  start(): void {
    addEventListener('online', this.#restart);
    addEventListener('pagehide', this.#disconnect);
    addEventListener('pageshow', this.#onVisibility);
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#onVisibility();
  }

  readonly #onVisibility = (): void => {
    if (document.visibilityState === 'hidden') this.#disconnect();
    else if (this.#source === undefined) this.#restart();
  };

  readonly #restart = (): void => {
    this.#retryMs = FIRST_RETRY_MS;
    this.#disconnect();
    void this.#connect();
  };

  readonly #disconnect = (): void => {
    this.#attempt += 1;
    clearTimeout(this.#retryTimer);
    this.#source?.close();
    this.#source = undefined;
    this.#giveBackSlot?.();
    this.#giveBackSlot = undefined;
  };

  async #connect(): Promise<void> {
    const attempt = this.#attempt;
    try {
      const giveBack = await takeSlot();
      if (attempt !== this.#attempt) return giveBack?.();
      this.#giveBackSlot = giveBack;
      const hasSlot = giveBack !== undefined;
      // A stream begins with all entries after its cursor.
      if (hasSlot && !this.#mayHaveMissed) return this.#open(attempt);
      const head = await catchUp(this.#cursor);
      if (attempt !== this.#attempt) return;
      this.#cursor = Math.max(this.#cursor, head);
      if (hasSlot) return this.#open(attempt);
      await this.#bringCases();
      if (attempt !== this.#attempt) return;
      showConnection(true);
      this.#retryTimer = setTimeout(() => void this.#connect(), POLL_MS);
    } catch {
      if (attempt === this.#attempt) this.#retry();
    }
  }

  #open(attempt: number): void {
    const source = new EventSource(`/web/events?${this.#parameters()}`);
    this.#source = source;
    const retry = (): void => {
      if (attempt === this.#attempt) this.#retry();
    };
    source.addEventListener('head', ({ data }) => {
      const head = JSON.parse(String(data)) as { readonly log: string; readonly cases: number };
      if (isOtherLog(head.log)) return;
      this.#retryMs = FIRST_RETRY_MS;
      this.#mayHaveMissed = true;
      showConnection(true);
      if (head.cases > this.#lastCase) this.#bringCases().catch(retry);
    });
    source.addEventListener('entry', ({ data, lastEventId }) => {
      if (attempt === this.#attempt) this.#collect(Number(lastEventId), String(data));
    });
    source.addEventListener('cases', () => void this.#bringCases().catch(retry));
    source.addEventListener('presence', () => this.#freshenSoon());
    source.onerror = retry;
  }

  #parameters(): string {
    const parameters = new URLSearchParams(`${this.#query}&${viewQuery()}`);
    parameters.set('after', String(this.#cursor));
    if (pageName !== 'house' && pageName !== 'room') return parameters.toString();
    const as = rememberedAuthor()?.identity;
    if (pageName === 'room' && as !== undefined) parameters.set('as', as);
    // Naming the kind `presence` alone would leave out all others.
    if (!parameters.has('kind')) for (const kind of KINDS) parameters.append('kind', kind);
    parameters.append('kind', 'presence');
    return parameters.toString();
  }

  #collect(seq: number, html: string): void {
    if (seq <= this.#cursor) return;
    this.#cursor = seq;
    if (list === null) return this.#freshenSoon();
    const article = parsed(String(JSON.parse(html))).querySelector<HTMLElement>('article');
    if (article === null) return;
    this.#collected.push(article);
    if (this.#collected.length === 1)
      setTimeout(() => addEntries(this.#collected.splice(0)), COLLECT_MS);
  }

  /** Many changes of the page come together. */
  #freshenSoon(): void {
    if (this.#freshenTimer !== undefined) return;
    const wait = Math.max(100, this.#freshened + FRESHEN_MS - Date.now());
    this.#freshenTimer = setTimeout(() => {
      this.#freshenTimer = undefined;
      this.#freshened = Date.now();
      freshen().catch(() => {});
    }, wait);
  }

  /** What was withheld, hidden or shown again after the page was made. */
  async #bringCases(): Promise<void> {
    const path = `/api/withheld?after=${this.#lastCase}&limit=${MAX_CASES}`;
    const found = (await fetchJson(path)) as {
      readonly withheld: readonly Withholding[];
      readonly next: string | null;
    };
    if (found.next !== null) return location.reload();
    // The newest case of each entry counts: it comes first.
    const cases = found.withheld.filter(
      ({ id }, at) => found.withheld.findIndex((other) => other.id === id) === at,
    );
    await applyCases(cases);
    this.#lastCase = Math.max(this.#lastCase, cases[0]?.number ?? 0);
  }

  #retry(): void {
    showConnection(false);
    this.#disconnect();
    this.#retryTimer = setTimeout(() => void this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }
}

function showConnection(isConnected: boolean): void {
  const notice = list?.querySelector<HTMLElement>('.entries-interrupted');
  if (notice) notice.hidden = isConnected;
}

/** Whether the page may be an old one: browsers go back and forth without asking the gateway. */
function isKeptPage(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'back_forward';
}
