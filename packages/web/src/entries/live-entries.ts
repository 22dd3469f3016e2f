/**
 * Brings new entries as they are stored, each once: by a stream, and after an interruption first the missed
 * ones. Closes the stream while the page is hidden, because browsers open few connections to one host. A page
 * that gets no stream, since others have them, asks for what it has missed again and again.
 */
import { KINDS } from '@open-presence/protocol';
import { useEffect } from 'preact/hooks';

import { fetchJson } from '../fetch-json.ts';
import { addressWith, useShell } from '../shell.ts';
import type { EntryBatch, PageEntry } from './entry-data.ts';
import { takeSlot } from './stream-slot.ts';
import { fetchCases, type Withholding } from './withheld-entry.ts';

export interface PresenceChange {
  readonly identity: string;
  readonly state: 'here' | 'gone';
  /** Slug. */
  readonly room: string | null;
  readonly time: string;
}

interface LiveEntriesOptions {
  /** Parameters of `/web/events` that select the entries. */
  readonly query: string;
  readonly head: number;
  /** The name of the log that the page shows. Where the gateway has another one by now, the page is loaded again. */
  readonly log: string | undefined;
  /** How many cases of what was withheld the page knows (PROTOCOL.md section 4.7). */
  readonly cases: number | undefined;
  /**
   * Brings the whole page up to date after an interruption, and resolves with its newest seq. Without it, the newest of
   * the missed entries come.
   */
  readonly reload?: () => Promise<number>;
  /** Called after an interruption: visitors may have come and gone. */
  readonly onReturn?: () => void;
  /** Asks for events of visitors, too. `as`: the visitor of this page. */
  readonly presence?: { readonly as: string | undefined };
  /** `isGap`: entries are missing between those before and the first of these. */
  readonly onEntries: (entries: readonly PageEntry[], isGap: boolean) => void;
  readonly onPresence?: (change: PresenceChange) => void;
  /** Called when entries are withheld, hidden or shown again. */
  readonly onWithheld: (withholdings: readonly Withholding[]) => void;
  readonly onConnection?: (isConnected: boolean) => void;
}

/** A selection of no entries, for pages that only have to hear what is withheld. */
export const NO_ENTRIES = 'since=9999-12-31';

const MAX_MISSED = 40;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** How often a page without a stream asks. */
const POLL_MS = 5000;
/** Entries that come within this time are shown together. */
const COLLECT_MS = 40;

export class LiveEntries {
  readonly #options: LiveEntriesOptions;
  readonly #closing = new AbortController();
  #cursor: number;
  #source: EventSource | undefined;
  #giveBackSlot: (() => void) | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #collected: PageEntry[] = [];
  #collectTimer: ReturnType<typeof setTimeout> | undefined;
  /** Counts connections, so that late events of an earlier one can be left out. */
  #attempt = 0;
  /** The ids of entries that are being loaded because they are shown again. */
  readonly #showing = new Set<string>();
  /** The number of the newest case that the page knows. */
  #lastCase: number;
  /** Whether a stream was open before, or the browser shows a page again that it has kept. */
  #mayHaveMissed = isKeptPage();

  constructor(options: LiveEntriesOptions) {
    this.#options = options;
    this.#cursor = options.head;
    this.#lastCase = options.cases ?? 0;
    const { signal } = this.#closing;
    addEventListener('online', this.#restart, { signal });
    addEventListener('pagehide', this.#disconnect, { signal });
    addEventListener('pageshow', this.#onVisibility, { signal });
    document.addEventListener('visibilitychange', this.#onVisibility, { signal });
    this.#onVisibility();
  }

  close(): void {
    this.#closing.abort();
    this.#disconnect();
    clearTimeout(this.#collectTimer);
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
    this.#showing.clear();
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
      this.#flush();
      if (this.#isOtherLog(await fetchJson('/api/log/head'))) return;
      const { reload, onReturn } = this.#options;
      const head = await (reload?.() ?? this.#bringMissed(attempt));
      if (attempt !== this.#attempt) return;
      onReturn?.();
      this.#cursor = Math.max(this.#cursor, head);
      if (hasSlot) return this.#open(attempt);
      await this.#bringCases(attempt);
      if (attempt !== this.#attempt) return;
      this.#options.onConnection?.(true);
      this.#retryTimer = setTimeout(() => void this.#connect(), POLL_MS);
    } catch {
      if (attempt === this.#attempt) this.#retry();
    }
  }

  /** The seqs of another log belong to other entries: the page begins anew, at no place that its address names. */
  #isOtherLog(found: unknown): boolean {
    const { log } = this.#options;
    if (log === undefined || (found as { readonly log: string }).log === log) return false;
    this.close();
    const address = location.pathname + location.search;
    location.replace(addressWith(address, { before: undefined, after: undefined }));
    return true;
  }

  async #bringMissed(attempt: number): Promise<number> {
    const { entries, head, next } = await this.#readMissed();
    if (attempt === this.#attempt && entries.length > 0)
      this.#options.onEntries(entries, next !== null);
    return head;
  }

  /** What was withheld, hidden or shown again after the page was made. Of very many cases, the page is made anew. */
  async #bringCases(attempt: number): Promise<void> {
    const cases = await fetchCases(this.#lastCase);
    if (attempt !== this.#attempt) return;
    this.#flush();
    if (cases === undefined) {
      location.reload();
      return;
    }
    for (const { id } of cases) this.#showing.delete(id);
    this.#lastCase = Math.max(this.#lastCase, cases[0]?.number ?? 0);
    this.#options.onWithheld(cases.filter(({ state }) => state !== 'shown'));
    for (const shown of cases.filter(({ state }) => state === 'shown'))
      this.#showAgain(shown).catch(() => {});
  }

  /** The newest of the missed entries, oldest first. */
  async #readMissed(): Promise<EntryBatch> {
    const { query } = this.#options;
    const range = `order=newest&after=${this.#cursor}&limit=${MAX_MISSED}`;
    const batch = await fetchBatch(`${query}&${range}`);
    return { ...batch, entries: batch.entries.toReversed() };
  }

  #open(attempt: number): void {
    const source = new EventSource(`/web/events?${this.#parameters()}`);
    this.#source = source;
    const retry = (): void => {
      if (attempt === this.#attempt) this.#retry();
    };
    source.addEventListener('head', ({ data }) => {
      const position = JSON.parse(String(data)) as { readonly log: string; readonly cases: number };
      if (this.#isOtherLog(position)) return;
      this.#retryMs = FIRST_RETRY_MS;
      this.#mayHaveMissed = true;
      this.#options.onConnection?.(true);
      if (position.cases > this.#lastCase) this.#bringCases(attempt).catch(retry);
    });
    source.addEventListener('entry', ({ data }) => {
      if (attempt === this.#attempt) this.#collect(JSON.parse(String(data)) as PageEntry);
    });
    source.addEventListener('cases', () => {
      this.#bringCases(attempt).catch(retry);
    });
    source.addEventListener('presence', ({ data }) => {
      this.#options.onPresence?.(JSON.parse(String(data)) as PresenceChange);
    });
    source.onerror = retry;
  }

  /** Loads the entry, if the page has it. Drops it if it is withheld again in the meantime. */
  async #showAgain(shown: Withholding): Promise<void> {
    if (document.getElementById(`e${shown.seq}`) === null) return;
    this.#showing.add(shown.id);
    const entry = (await fetchJson(`/web/entries/${shown.id}`)) as PageEntry;
    if (this.#showing.delete(shown.id)) this.#options.onWithheld([{ ...shown, entry }]);
  }

  #parameters(): string {
    const { query, presence } = this.#options;
    const parameters = new URLSearchParams(query);
    parameters.set('after', String(this.#cursor));
    if (presence === undefined) return parameters.toString();
    if (presence.as !== undefined) parameters.set('as', presence.as);
    // Naming the kind `presence` alone would leave out all others.
    if (!parameters.has('kind')) for (const kind of KINDS) parameters.append('kind', kind);
    parameters.append('kind', 'presence');
    return parameters.toString();
  }

  #retry(): void {
    this.#options.onConnection?.(false);
    this.#disconnect();
    this.#retryTimer = setTimeout(() => void this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }

  #collect(entry: PageEntry): void {
    if (entry.seq <= this.#cursor) return;
    this.#cursor = entry.seq;
    this.#collected.push(entry);
    if (this.#collected.length === 1) {
      this.#collectTimer = setTimeout(() => this.#flush(), COLLECT_MS);
    }
  }

  #flush(): void {
    clearTimeout(this.#collectTimer);
    const entries = this.#collected;
    this.#collected = [];
    if (entries.length > 0) this.#options.onEntries(entries, false);
  }
}

/** Hears what is withheld, on a page that does not change with new entries. */
export function useWithholdings(onWithheld: LiveEntriesOptions['onWithheld']): void {
  const { head = 0, log, cases } = useShell();
  useEffect(() => {
    const options = { query: NO_ENTRIES, head, log, cases, onEntries() {}, onWithheld };
    const live = new LiveEntries(options);
    return () => live.close();
  }, []);
}

/** Whether the page may be an old one: browsers go back and forth without asking the gateway. */
function isKeptPage(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'back_forward';
}

/** `query`: parameters of `/web/entries`. Rejects if the gateway cannot be reached, or cannot answer. */
export async function fetchBatch(query: string): Promise<EntryBatch> {
  return (await fetchJson(`/web/entries?${query}`)) as EntryBatch;
}
