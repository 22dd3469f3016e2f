/**
 * Drafts: what was typed into a form and not sent yet. Each tab has its own. When a tab no longer shows
 * this gateway, its draft goes to the next tab that opens the form and has no draft of it.
 */
import { store } from '../../storage.ts';
import type { FormContent } from '../form/form-content.ts';
import { read, write } from './database.ts';
import { inTurn, tabsInUse, thisTab } from './tab.ts';

/** Identifies a form on its page, in every language. */
export function formId(page: string, form: string): string {
  return `${page} ${form}`;
}

/** The key of this tab's draft. */
export function draftKey(form: string): string {
  return `${form}\n${thisTab()}`;
}

export function readDraft(form: string): Promise<FormContent | undefined> {
  return inTurn('drafts', async () => {
    const own = draftKey(form);
    const keys = await availableKeys(`${form}\n`);
    const key = keys.includes(own) ? own : keys.at(-1);
    if (key === undefined) return undefined;
    const draft = await read('drafts', (store) => store.get(key) as IDBRequest<FormContent>);
    if (key !== own) {
      await write(['drafts'], (transaction) => {
        transaction.objectStore('drafts').put({ ...draft, form: own });
        transaction.objectStore('drafts').delete(key);
      });
    }
    return draft;
  });
}

/** Which forms of a page have a draft for this tab. */
export async function formsWithDraft(page: string): Promise<string[]> {
  const start = formId(page, '');
  const keys = await availableKeys(start);
  return keys.map((key) => key.slice(start.length, key.lastIndexOf('\n')));
}

/** The keys of this tab, and of tabs that are gone: the tab that was opened last comes last. */
async function availableKeys(start: string): Promise<string[]> {
  const isInUse = await tabsInUse();
  const isAvailable = (key: string): boolean => {
    const tab = key.slice(key.lastIndexOf('\n') + 1);
    return tab === thisTab() || !isInUse(tab);
  };
  for (const [key, text] of Object.entries<string>(localStorage)) {
    if (key.startsWith(RESCUED) && isAvailable(key))
      await putDraft(key.slice(RESCUED.length), JSON.parse(text) as FormContent);
  }
  const range = IDBKeyRange.bound(start, `${start}\uffff`);
  const keys = await read('drafts', (store) => store.getAllKeys(range) as IDBRequest<string[]>);
  return keys.filter(isAvailable);
}

export function storeDraft(form: string, content: FormContent): Promise<void> {
  return putDraft(draftKey(form), content);
}

async function putDraft(key: string, content: FormContent): Promise<void> {
  await write(['drafts'], (transaction) => {
    transaction.objectStore('drafts').put({ ...content, form: key });
  });
  localStorage.removeItem(RESCUED + key);
}

export function removeDraft(form: string): Promise<void> {
  return write(['drafts'], (transaction) => {
    transaction.objectStore('drafts').delete(draftKey(form));
  });
}

const RESCUED = 'open-presence.draft ';
/** In UTF-16 code units. Browsers store about five million for all keys together. */
const MAX_RESCUED = 1_000_000;

/** Stores a draft at once while the page is left: the database may not have the time. */
export function rescueDraft(form: string, { values, rows }: FormContent): void {
  const texts = [...values.map(([, value]) => value), ...rows.map(({ value }) => value)];
  if (texts.join('').length <= MAX_RESCUED) store(RESCUED + draftKey(form), { values, rows });
}
