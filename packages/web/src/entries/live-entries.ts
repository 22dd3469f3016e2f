/**
 * New entries as they are stored, each once: a stream, and after each interruption what was missed.
 * Without a stream while nobody looks at the page: browsers open few connections to one place.
 */
import { KINDS } from '@open-presence/protocol';

import type { EntryBatch, PageEntry } from './entry-data.ts';
import { fetchWithheld, type Withholding } from './withheld-entry.ts';

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
  /** The last entry that is known. */
  readonly head: number;
  /** Whether all that is missed is wanted, however much it is. */
  readonly isGapless?: boolean;
  /** Whether events of visitors are wanted too, and which visitor this page is. */
  readonly presence?: { readonly as: string | undefined };
  /** `isGap`: more were missed, between those that are known and the first of these. */
  readonly onEntries: (entries: readonly PageEntry[], isGap: boolean) => void;
  readonly onPresence?: (change: PresenceChange) => void;
  /** What is withheld or hidden, or is shown again. */
  readonly onWithheld: (withholdings: readonly Withholding[]) => void;
  readonly onConnection?: (isConnected: boolean) => void;
}

const MAX_MISSED = 40;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Entries that come within this time are shown together. */
const COLLECT_MS = 40;

export class LiveEntries {
  readonly #options: LiveEntriesOptions;
  readonly #closing = new AbortController();
  #cursor: number;
  #source: EventSource | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #collected: PageEntry[] = [];
  #collectTimer: ReturnType<typeof setTimeout> | undefined;
  /** Counts connections: what an earlier one receives late is left out. */
  #attempt = 0;
  /** The ids of entries that are loaded because they are shown again. */
  readonly #showing = new Set<string>();
  /** Whether entries may have been missed. */
  #wasConnected = false;

  constructor(options: LiveEntriesOptions) {
    this.#options = options;
    this.#cursor = options.head;
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
  };

  async #connect(): Promise<void> {
    const attempt = this.#attempt;
    // A stream sends all that is newer than its cursor.
    if (!this.#wasConnected || this.#options.isGapless === true) return this.#open(attempt);
    try {
      const { entries, head, next } = await this.#readMissed();
      const withheld = await fetchWithheld();
      if (attempt !== this.#attempt) return;
      this.#flush();
      this.#options.onWithheld(withheld);
      if (entries.length > 0) this.#options.onEntries(entries, next !== null);
      this.#cursor = Math.max(this.#cursor, head);
      this.#open(attempt);
    } catch {
      if (attempt === this.#attempt) this.#retry();
    }
  }

  /** The newest of what was missed, oldest first. */
  async #readMissed(): Promise<EntryBatch> {
    const { query } = this.#options;
    const range = `order=newest&after=${this.#cursor}&limit=${MAX_MISSED}`;
    const batch = await fetchBatch(`${query}&${range}`);
    return { ...batch, entries: batch.entries.toReversed() };
  }

  #open(attempt: number): void {
    const source = new EventSource(`/web/events?${this.#parameters()}`);
    this.#source = source;
    source.addEventListener('head', () => {
      this.#retryMs = FIRST_RETRY_MS;
      this.#wasConnected = true;
      this.#options.onConnection?.(true);
    });
    source.addEventListener('entry', ({ data }) => {
      if (attempt === this.#attempt) this.#collect(JSON.parse(String(data)) as PageEntry);
    });
    source.addEventListener('withheld', ({ data }) => {
      this.#flush();
      const withholding = JSON.parse(String(data)) as Withholding;
      this.#showing.delete(withholding.id);
      this.#options.onWithheld([withholding]);
    });
    source.addEventListener('shown', ({ data }) => {
      this.#showAgain(JSON.parse(String(data)) as Withholding).catch(() => {});
    });
    source.addEventListener('presence', ({ data }) => {
      this.#options.onPresence?.(JSON.parse(String(data)) as PresenceChange);
    });
    source.onerror = () => {
      if (attempt === this.#attempt) this.#retry();
    };
  }

  /** Loads the entry, if the page has it. What is withheld in the meantime stays away. */
  async #showAgain(shown: Withholding): Promise<void> {
    if (document.getElementById(`e${shown.seq}`) === null) return;
    this.#showing.add(shown.id);
    const answer = await fetch(`/web/entries/${shown.id}`);
    if (!answer.ok) return;
    const entry = (await answer.json()) as PageEntry;
    if (this.#showing.delete(shown.id)) this.#options.onWithheld([{ ...shown, entry }]);
  }

  #parameters(): string {
    const { query, presence } = this.#options;
    const parameters = new URLSearchParams(query);
    parameters.set('after', String(this.#cursor));
    if (presence === undefined) return parameters.toString();
    if (presence.as !== undefined) parameters.set('as', presence.as);
    // Naming a kind leaves the others out.
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

/** `query`: parameters of `/web/entries`. Rejects where the gateway cannot be reached, or cannot answer. */
export async function fetchBatch(query: string): Promise<EntryBatch> {
  const answer = await fetch(`/web/entries?${query}`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return (await answer.json()) as EntryBatch;
}
