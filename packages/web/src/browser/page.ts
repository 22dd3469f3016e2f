/** The page that is open, and how the gateway's HTML becomes elements of it. */

interface Policy {
  createHTML(html: string): string;
}

declare const trustedTypes:
  | { createPolicy(name: string, rules: { createHTML: (html: string) => string }): Policy }
  | undefined;

/** The policy of our pages names this one alone: no other code can turn text into HTML. */
const policy =
  typeof trustedTypes === 'undefined'
    ? undefined
    : trustedTypes.createPolicy('gateway', { createHTML: (html) => html });

export const main: HTMLElement = document.getElementById('content') ?? document.body;
export const pageName: string = document.documentElement.dataset['page'] ?? '';
export const locale: string = document.documentElement.lang;

/** HTML that the gateway has made, in which all words of visitors are text. */
export function parsed(html: string): Document {
  return new DOMParser().parseFromString(policy?.createHTML(html) ?? html, 'text/html');
}

/** Rejects if the gateway cannot be reached, or cannot answer. */
export async function fetchDocument(path: string): Promise<Document> {
  const answer = await fetch(path, { headers: { Accept: 'text/html' } });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return parsed(await answer.text());
}

export async function fetchJson(path: string): Promise<unknown> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return await answer.json();
}

/** Parameters that keep the language which the address of this page chooses. */
export function languageQuery(): URLSearchParams {
  const chosen = new URLSearchParams(location.search).get('lang');
  return new URLSearchParams(chosen === null ? {} : { lang: chosen });
}

export function elementWithId(id: string | undefined): HTMLElement | null {
  return id === undefined ? null : document.querySelector(`[data-id="${CSS.escape(id)}"]`);
}

/** A text with numbers or names in the places that it marks by `#1`, `#2`. */
export function filled(text: string, ...values: readonly (number | string)[]): string {
  return text.replaceAll(/#(\d)/g, (_, place: string) => {
    const value = values[Number(place) - 1] ?? '';
    return typeof value === 'number' ? value.toLocaleString(locale) : value;
  });
}

/** Whether the visitor asks for a new tab or window. */
export function isForNewTab(event: KeyboardEvent | MouseEvent): boolean {
  const { ctrlKey, metaKey, shiftKey } = event;
  return ctrlKey || metaKey || shiftKey;
}
