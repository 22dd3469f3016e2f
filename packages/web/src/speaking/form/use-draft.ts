/** Stores what is typed into a form: shortly after each change, and when the visitor leaves the page. */
import { useEffect, useRef } from 'preact/hooks';

import { removeDraft, rescueDraft, storeDraft } from '../outbox/drafts.ts';
import type { FormContent } from './form-content.ts';

/** How long a visitor has to pause before the draft is stored. */
const PAUSE_MS = 250;
/** Storing a large text takes at most this part of the time. */
const MAX_SHARE = 0.05;

export interface DraftKeeper {
  /** Call it after each change. Takes the same time for a text of any length. */
  changed(): void;
  /** Forgets changes that are not stored yet. */
  cancel(): void;
  /** Whether anything changed after `cancel`. */
  hasChanged(): boolean;
}

/** `read` returns the form's content, or undefined if that is not worth storing. */
export function useDraft(form: string, read: () => FormContent | undefined): DraftKeeper {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const pause = useRef<number>(PAUSE_MS);
  const isChanged = useRef(false);
  /** The newest change that the database does not have yet, even while it is being stored. */
  const unstored = useRef<object | undefined>(undefined);
  const store = (isLeaving: boolean): void => {
    const change = unstored.current;
    if (change === undefined) return;
    clearTimeout(timer.current);
    const start = performance.now();
    const content = read();
    if (isLeaving && content !== undefined) rescueDraft(form, content);
    const stored = content === undefined ? removeDraft(form) : storeDraft(form, content);
    const forget = (): void => {
      if (unstored.current === change) unstored.current = undefined;
    };
    // Without a database, the form alone has it.
    stored.then(forget, () => {});
    pause.current = Math.max(PAUSE_MS, (performance.now() - start) / MAX_SHARE);
  };
  const latest = useRef(store);
  latest.current = store;
  useEffect(() => {
    const leave = (): void => latest.current(true);
    const unmount = new AbortController();
    for (const type of ['pagehide', 'visibilitychange'])
      addEventListener(type, leave, { signal: unmount.signal });
    return () => {
      leave();
      unmount.abort();
    };
  }, [form]);
  return {
    changed() {
      isChanged.current = true;
      unstored.current = {};
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(false), pause.current);
    },
    cancel() {
      isChanged.current = false;
      unstored.current = undefined;
      clearTimeout(timer.current);
    },
    hasChanged: () => isChanged.current,
  };
}
