/** What was typed into a form and not sent yet, on this device. */
import { useEffect, useRef } from 'preact/hooks';

import type { FormContent } from './form-content.ts';

const PREFIX = 'open-presence.draft ';
/** How long a visitor has to pause before the draft is stored. */
const PAUSE_MS = 400;

/** Identifies a form on its page, in every language. */
export function formId(page: string, form: string): string {
  return `${page} ${form}`;
}

export function readDraft(form: string): FormContent | undefined {
  try {
    const text = localStorage.getItem(PREFIX + form);
    return text === null ? undefined : (JSON.parse(text) as FormContent);
  } catch {
    return undefined;
  }
}

/** Undefined removes it. */
export function storeDraft(form: string, content: FormContent | undefined): void {
  try {
    if (content === undefined) localStorage.removeItem(PREFIX + form);
    else localStorage.setItem(PREFIX + form, JSON.stringify({ ...content, file: undefined }));
  } catch {
    // The form alone has it.
  }
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
  const store = (): void => {
    if (timer.current === undefined) return;
    clearTimeout(timer.current);
    timer.current = undefined;
    storeDraft(form, latest.current());
  };
  useEffect(() => {
    addEventListener('pagehide', store);
    return () => {
      store();
      removeEventListener('pagehide', store);
    };
  }, [form]);
  return () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(store, PAUSE_MS);
  };
}
