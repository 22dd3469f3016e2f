/** What was typed into a form and not sent yet, on this device. */
import { useEffect, useRef } from 'preact/hooks';

import { store, stored, unstore } from '../../storage.ts';
import type { FormContent } from './form-content.ts';

const PREFIX = 'open-presence.draft ';
/** How long a visitor has to pause before the draft is stored. */
const PAUSE_MS = 400;

/** Identifies a form on its page, in every language. */
export function formId(page: string, form: string): string {
  return `${page} ${form}`;
}

export function readDraft(form: string): FormContent | undefined {
  return stored(PREFIX + form) as FormContent | undefined;
}

/** Undefined removes it. An attached file is not kept. */
export function storeDraft(form: string, content: FormContent | undefined): void {
  if (content === undefined) unstore(PREFIX + form);
  else store(PREFIX + form, { ...content, file: undefined });
}

/** Which forms of a page have a draft. */
export function formsWithDraft(page: string): string[] {
  const start = PREFIX + formId(page, '');
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(start));
    return keys.map((key) => key.slice(start.length));
  } catch {
    return [];
  }
}

/** Stores the draft shortly after the returned function is called, and when the page is left. */
export function useDraft(form: string, read: () => FormContent | undefined): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(read);
  latest.current = read;
  const storeNow = (): void => {
    if (timer.current === undefined) return;
    clearTimeout(timer.current);
    timer.current = undefined;
    storeDraft(form, latest.current());
  };
  useEffect(() => {
    addEventListener('pagehide', storeNow);
    return () => {
      storeNow();
      removeEventListener('pagehide', storeNow);
    };
  }, [form]);
  return () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(storeNow, PAUSE_MS);
  };
}
