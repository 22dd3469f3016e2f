/** Drafts: what was typed into a form and not sent yet. */
import { read, write } from './database.ts';
import type { FormContent } from './form-content.ts';

export interface Draft extends FormContent {
  /** See `formId`. */
  readonly form: string;
}

/** Identifies a form on its page, in every language. */
export function formId(page: string, form: string): string {
  return `${page} ${form}`;
}

export async function readDraft(form: string): Promise<Draft | undefined> {
  await storeRescued();
  return await read('drafts', (store) => store.get(form) as IDBRequest<Draft | undefined>);
}

/** Which forms of a page have a draft. */
export async function formsWithDraft(page: string): Promise<string[]> {
  await storeRescued();
  const start = formId(page, '');
  const range = IDBKeyRange.bound(start, `${start}\uffff`);
  const keys = await read('drafts', (store) => store.getAllKeys(range) as IDBRequest<string[]>);
  return keys.map((key) => key.slice(start.length));
}

export function storeDraft(draft: Draft): Promise<void> {
  return write(['drafts'], (transaction) => {
    transaction.objectStore('drafts').put(draft);
  });
}

export function removeDraft(form: string): Promise<void> {
  return write(['drafts'], (transaction) => {
    transaction.objectStore('drafts').delete(form);
  });
}

const RESCUED = 'open-presence.draft';
/** In UTF-16 code units. Browsers store about five million of all keys together. */
const MAX_RESCUED = 1_000_000;

/** Stores a draft at once, while the page is left: the database may be closed before it has it. */
export function rescueDraft({ form, values, rows }: Draft): void {
  const text = JSON.stringify({ form, values, rows });
  if (text.length > MAX_RESCUED) return;
  try {
    localStorage.setItem(RESCUED, text);
  } catch {
    // Storage may be switched off, or full.
  }
}

/** Moves the draft that the last page has left to the others. */
async function storeRescued(): Promise<void> {
  const text = localStorage.getItem(RESCUED);
  if (text === null) return;
  await storeDraft(JSON.parse(text) as Draft);
  if (localStorage.getItem(RESCUED) === text) localStorage.removeItem(RESCUED);
}
