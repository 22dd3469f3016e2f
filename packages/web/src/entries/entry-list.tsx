/**
 * A listing of entries: loads more at both ends, adds new entries as they come, and keeps its place in the
 * address. `windowed-list.tsx` decides what is loaded when, and what stays on the page.
 */
import type { ComponentChildren, VNode } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { type Side, WindowedList } from '../list/windowed-list.tsx';
import { addressWith, href, useShell, useWords } from '../shell.ts';
import { rememberedAuthor } from '../speaking/form/remembered-author.ts';
import { withAnswer, withMore } from './answers.ts';
import type { EntryList as EntryListData, PageEntry } from './entry-data.ts';
import { EntryComponentContext, type EntryViewOptions, MoreContext } from './entry-view.tsx';
import {
  CHUNK_SIZE,
  chunkOf,
  EntrySource,
  type EntryChunk,
  type EntryRange,
  type Entries,
} from './entry-source.ts';
import { LiveEntries, NO_ENTRIES, type PresenceChange } from './live-entries.ts';
import { withoutWithheld, type Withholding } from './withheld-entry.ts';

interface EntryListProps extends EntryViewOptions {
  readonly list: EntryListData;
  readonly empty: ComponentChildren;
  /** The id of the entry that all of these answer. Their own answers are nested beneath them. */
  readonly nestedIn?: string;
  readonly label: string;
  readonly onPresence?: (change: PresenceChange) => void;
  /** Called after an interruption. */
  readonly onReturn?: () => void;
  /** Called for entries that are not in the list, too. */
  readonly onWithheld?: (withholdings: readonly Withholding[]) => void;
}

/** The parameters of an address that name a place in the listing. */
const POSITION = ['before', 'after'];

export function EntryList({
  list,
  empty,
  nestedIn,
  label,
  onPresence,
  onReturn,
  onWithheld,
  ...options
}: EntryListProps): VNode {
  const shell = useShell();
  const words = useWords().list;
  const Entry = useContext(EntryComponentContext);
  const { order } = list;
  const liveSide = order === 'newest' ? 'before' : 'after';
  const source = useMemo(() => new EntrySource(list), []);
  const windowed = useRef<WindowedList<EntryRange, Entries>>(null);
  const [unseen, setUnseen] = useState(0);
  const [isConnected, setConnected] = useState(true);
  const [isEmpty, setEmpty] = useState(list.entries.length === 0);
  const first = chunkOf(list.entries);

  useEffect(() => {
    history.scrollRestoration = 'manual';
    if (/^#e\d+$/.test(location.hash))
      document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);

  useEffect(() => {
    // What is stored from now on is later, and a stream does not take `until`.
    const hasEnded = /(?:^|&)until=/.test(list.query);
    const own = hasEnded ? NO_ENTRIES : list.query;
    const live = new LiveEntries({
      query: nestedIn === undefined ? own : `thread=${nestedIn}`,
      head: list.head,
      log: shell.log,
      cases: shell.cases,
      ...(onReturn && { onReturn }),
      ...(onPresence === undefined
        ? {}
        : { presence: { as: rememberedAuthor()?.identity }, onPresence }),
      onConnection: setConnected,
      onWithheld(withholdings) {
        windowed.current?.update((entries) => withoutWithheld(entries, withholdings));
        onWithheld?.(withholdings);
      },
      onEntries(all, isGap) {
        const view = windowed.current;
        view?.update((shown) => all.reduce(withAnswer, shown));
        const entries =
          nestedIn === undefined
            ? all
            : all
                .filter(({ inReplyTo }) => inReplyTo === nestedIn)
                .map((entry) => ({ ...entry, answers: [] }));
        if (entries.length === 0 && !isGap) return;
        setEmpty(false);
        const wasShown = view?.isShown(liveSide) === true;
        source.newest = entries.at(-1)?.seq ?? source.newest;
        const isAdded =
          !isGap && entries.every((entry) => view?.extend(liveSide, withEntry(entry, order)));
        if (!isAdded) view?.reopen(liveSide);
        if (!wasShown || !isAdded) setUnseen((count) => count + entries.length);
      },
    });
    return () => live.close();
  }, []);

  const onScroll = (): void => {
    if (windowed.current?.isShown(liveSide) === true) setUnseen(0);
  };
  const element = useRef<HTMLElement>(null);
  const showNewest = (): void => {
    // The button goes away, and the focus would go with it.
    element.current?.focus({ preventScroll: true });
    setUnseen(0);
    void source.loadNewest().then(({ chunk, more }) => {
      const has =
        order === 'newest' ? { before: false, after: more } : { before: more, after: false };
      windowed.current?.reset(chunk, has);
    });
  };
  const addAnswers = useCallback((id: string, more: readonly PageEntry[]): void => {
    windowed.current?.update((entries) => withMore(entries, id, more));
  }, []);
  const { first: start, last: end } = first?.place ?? { first: list.head, last: list.head };
  const link = (side: Side, seq: number): string =>
    href(shell, addressWith(shell.url, { [side]: String(seq) }, POSITION));
  const links =
    order === 'newest'
      ? {
          before: { href: link('after', start), text: words.newer },
          after: { href: link('before', end), text: words.older },
        }
      : {
          before: { href: link('before', start), text: words.older },
          after: { href: link('after', end), text: words.newer },
        };

  return (
    <section class="entries" aria-label={label} tabIndex={-1} ref={element}>
      {isEmpty && <p class="entries-empty">{empty}</p>}
      <MoreContext.Provider value={addAnswers}>
        <WindowedList
          handle={windowed}
          source={source}
          chunks={first === undefined ? [] : [first]}
          has={{ before: list.hasEarlier, after: list.next !== null }}
          onScroll={onScroll}
          onRest={(element, isAtStart) => rememberPosition(element, isAtStart, order)}
          renderContent={(entries) =>
            entries.map((entry, at) => (
              <Entry key={entry.id} entry={entry} above={entries[at - 1]?.seq} {...options} />
            ))
          }
          links={shell.isCut ? undefined : links}
        />
      </MoreContext.Provider>
      <div class="entries-news" role="status">
        {unseen > 0 && (
          <button type="button" onClick={showNewest}>
            {words.unseen(unseen)}
          </button>
        )}
        {!isConnected && <p class="entries-interrupted">{words.interrupted}</p>}
      </div>
    </section>
  );
}

/** The chunk at the newest end with the entry, or another that begins with it. */
function withEntry(
  entry: PageEntry,
  order: EntryListData['order'],
): (outermost: EntryChunk | undefined) => EntryChunk {
  return (outermost) => {
    const shown = outermost?.content ?? [];
    const before = shown.length >= CHUNK_SIZE ? [] : shown;
    const entries = order === 'newest' ? [entry, ...before] : [...before, entry];
    const [first = entry, last = entry] = [entries[0], entries.at(-1)];
    return { place: { first: first.seq, last: last.seq }, content: entries };
  };
}

/** Writes the place to the address, so that going back, reloading and sharing lead to the entry in view. */
function rememberPosition(
  element: Element | undefined,
  isAtStart: boolean,
  order: EntryListData['order'],
): void {
  const seq = element === undefined || isAtStart ? undefined : Number(element.id.slice(1));
  const position: Record<string, string> =
    seq === undefined
      ? {}
      : order === 'newest'
        ? { before: String(seq + 1) }
        : { after: String(seq - 1) };
  const address = addressWith(location.pathname + location.search, position, POSITION);
  const hash = seq === undefined ? '' : `#e${seq}`;
  if (address + hash !== location.pathname + location.search + location.hash) {
    history.replaceState(history.state, '', address + hash);
  }
}
