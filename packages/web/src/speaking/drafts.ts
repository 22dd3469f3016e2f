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

export function readDraft(form: string): Promise<Draft | undefined> {
  return read('drafts', (store) => store.get(form) as IDBRequest<Draft | undefined>);
}

/** Which forms of a page have a draft. */
export async function formsWithDraft(page: string): Promise<string[]> {
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
