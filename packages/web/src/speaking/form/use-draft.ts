/** Stores what is typed into a form: shortly after each change, and when the page is left. */
import { useEffect, useRef, type Inputs } from 'preact/hooks';

import { removeDraft, rescueDraft, storeDraft } from '../outbox/drafts.ts';
import type { FormContent } from './form-content.ts';

const DELAY_MS = 250;
/** A large text is stored less often: at most this part of the time. */
const MAX_SHARE = 0.05;

export interface DraftKeeper {
  /** To be called after each change. Takes the same time for a text of any length. */
  changed(): void;
  /** Forgets changes that are not stored yet. */
  cancel(): void;
  /** Whether there were changes after `cancel`. */
  hasChanged(): boolean;
}

/** `read` returns what stands in the form, or undefined if that is nothing to store. */
export function useDraft(
  form: string,
  read: () => FormContent | undefined,
  inputs: Inputs,
): DraftKeeper {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const delay = useRef<number>(DELAY_MS);
  const isChanged = useRef(false);
  /** What the database does not have yet, even if it is being stored. */
  const unstored = useRef<object | undefined>(undefined);
  const stopTimer = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
  };
  const store = (isLeaving: boolean): void => {
    const change = unstored.current;
    if (change === undefined) return;
    stopTimer();
    const start = performance.now();
    const content = read();
    if (isLeaving && content !== undefined) rescueDraft(form, content);
    const stored = content === undefined ? removeDraft(form) : storeDraft(form, content);
    const forget = (): void => {
      if (unstored.current === change) unstored.current = undefined;
    };
    // Without a database the form is posted by the browser itself, which restores it too.
    stored.then(forget, () => {});
    delay.current = Math.max(DELAY_MS, (performance.now() - start) / MAX_SHARE);
  };
  const latest = useRef(store);
  latest.current = store;
  useEffect(() => {
    const leave = (): void => latest.current(true);
    addEventListener('pagehide', leave);
    document.addEventListener('visibilitychange', leave);
    return () => {
      leave();
      removeEventListener('pagehide', leave);
      document.removeEventListener('visibilitychange', leave);
    };
  }, inputs);
  return {
    changed() {
      isChanged.current = true;
      unstored.current = {};
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(false), delay.current);
    },
    cancel() {
      isChanged.current = false;
      unstored.current = undefined;
      stopTimer();
    },
    hasChanged: () => isChanged.current,
  };
}
