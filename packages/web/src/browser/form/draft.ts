/** What was typed into a form and not sent yet, on this device. */
import { store, stored, unstore } from '../storage.ts';
import type { FormContent } from './form-content.ts';

const PREFIX = 'open-presence.draft ';
/** How long a visitor has to pause before the draft is stored. */
const PAUSE_MS = 400;

/** Identifies a form on its page, in every language. `name`: its kind, and the id of what it answers. */
export function draftName(name: string): string {
  return `${location.pathname} ${name}`;
}

export function readDraft(form: string): FormContent | undefined {
  return stored(PREFIX + form) as FormContent | undefined;
}

/** Undefined removes it. An attached file is not kept. */
export function storeDraft(form: string, content: FormContent | undefined): void {
  if (content === undefined) unstore(PREFIX + form);
  else store(PREFIX + form, { ...content, file: undefined });
}

/** The names of the forms of this page that have a draft. */
export function formsWithDraft(): string[] {
  const start = PREFIX + draftName('');
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(start));
    return keys.map((key) => key.slice(start.length));
  } catch {
    return [];
  }
}

/** Stores a draft shortly after `changed` is called, and when the page is left, until it is stopped. */
export class DraftKeeper {
  readonly #form: string;
  readonly #read: () => FormContent | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(form: string, read: () => FormContent | undefined) {
    this.#form = form;
    this.#read = read;
    addEventListener('pagehide', this.store);
  }

  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.store, PAUSE_MS);
  }

  readonly store = (): void => {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    storeDraft(this.#form, this.#read());
  };

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    removeEventListener('pagehide', this.store);
  }
}
