/**
 * What happens while somebody looks at a page, from `/web/events`.
 *
 * The stream is closed while the page is hidden, since browsers open only a few connections to one
 * host, and resumes after the last entry that was received: nothing is missed, and nothing comes twice.
 */
import type { PageEntry } from './entries/entry-data.ts';
import type { Withholding } from './entries/withheld-entry.ts';

export interface PresenceChange {
  readonly identity: string;
  readonly state: 'here' | 'gone';
  /** Slug. */
  readonly room: string | null;
  readonly time: string;
}

export interface LiveEventHandlers {
  readonly onEntry: (entry: PageEntry) => void;
  readonly onWithheld: (withholding: Withholding) => void;
  /** Only with `kind=presence` among the parameters. Changes while the page was hidden are not told. */
  readonly onPresence?: (change: PresenceChange) => void;
}

/** After an error at which the browser gives the stream up. */
const RETRY_MS = 5000;

/** Entries after the seq `after`. Returns what ends it. */
export function openLiveEvents(
  parameters: URLSearchParams,
  after: number,
  { onEntry, onWithheld, onPresence }: LiveEventHandlers,
): () => void {
  let last = String(after);
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(retry);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    if (document.visibilityState === 'hidden') return;
    const query = new URLSearchParams(parameters);
    query.set('after', last);
    source = new EventSource(`/web/events?${query.toString()}`);
    source.addEventListener('head', ({ lastEventId }) => {
      last = lastEventId;
    });
    source.addEventListener('entry', ({ data, lastEventId }: MessageEvent<string>) => {
      last = lastEventId;
      onEntry(JSON.parse(data) as PageEntry);
    });
    source.addEventListener('withheld', ({ data }: MessageEvent<string>) => {
      onWithheld(JSON.parse(data) as Withholding);
    });
    source.addEventListener('presence', ({ data }: MessageEvent<string>) => {
      onPresence?.(JSON.parse(data) as PresenceChange);
    });
    source.addEventListener('error', () => {
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
    });
  };
  document.addEventListener('visibilitychange', open);
  open();
  return () => {
    document.removeEventListener('visibilitychange', open);
    close();
  };
}
