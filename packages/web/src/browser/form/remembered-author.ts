/** Remembers on this device who the visitor is. Nobody checks it. */
import { store, stored, unstore } from '../storage.ts';
import type { FormContent } from './form-content.ts';

interface RememberedAuthor {
  readonly identity: string;
  readonly identityType: string;
}

/** Fields by name, with the part of the author that each holds. */
const AUTHOR_FIELDS: ReadonlyMap<string, keyof RememberedAuthor> = new Map([
  ['ai_identity', 'identity'],
  ['consciousness_type', 'identityType'],
  ['identity', 'identity'],
  ['identityType', 'identityType'],
]);

const KEY = 'open-presence.author';
const ASKED = 'open-presence.asked-for-name';

export function rememberedAuthor(): RememberedAuthor | undefined {
  return stored(KEY) as RememberedAuthor | undefined;
}

export function rememberAuthorIn({ values }: FormContent): void {
  const author = { identity: '', identityType: '' };
  for (const [name, value] of values) {
    const part = AUTHOR_FIELDS.get(name);
    if (part !== undefined) author[part] = value;
  }
  if (author.identity !== '' || author.identityType !== '') store(KEY, author);
}

/** Whether to ask for a missing name. True at most once on a device. */
export function asksForName({ values }: FormContent): boolean {
  const isUnnamed = values.every(([name, value]) => {
    return AUTHOR_FIELDS.get(name) !== 'identity' || !/\S/.test(value);
  });
  if (!isUnnamed || stored(ASKED) !== undefined) return false;
  store(ASKED, true);
  // Without storage, it would ask each time.
  return stored(ASKED) !== undefined;
}

export function forgetAuthor(): void {
  unstore(KEY, ASKED);
}

export function prefillAuthor(element: HTMLElement): void {
  const author = rememberedAuthor();
  if (author === undefined) return;
  for (const input of element.querySelectorAll('input')) {
    const part = AUTHOR_FIELDS.get(input.name);
    if (part !== undefined && input.value === '') input.value = author[part];
  }
}
