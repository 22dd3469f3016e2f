/** Opens forms where their links stand: the form of the page that the link leads to. */
import { elementWithId, fetchDocument, isForNewTab } from '../page.ts';
import { formsWithDraft } from './draft.ts';
import { SpeakForm } from './speak-form.ts';

const LINKS = '#take-part a, .entry-foot .reply';

/** Opens the forms that have a draft, too. */
export function startForms(): void {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>(LINKS);
    if (link === null || isForNewTab(event)) return;
    event.preventDefault();
    if (link.getAttribute('aria-expanded') === 'true') close(link);
    else void open(link, true);
  });
  document.addEventListener('keydown', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>(
      '#take-part a[role="button"]',
    );
    if (link === null || event.key !== ' ') return;
    event.preventDefault();
    link.click();
  });
  const links = Array.from(document.querySelectorAll<HTMLAnchorElement>('#take-part a'));
  for (const link of links) {
    link.role = 'button';
    link.ariaExpanded = 'false';
  }
  const form = document.querySelector<HTMLFormElement>('main > form[data-kind]');
  if (form !== null) new SpeakForm(form, () => {}).start(false);
  const [first] = links;
  if (first !== undefined && location.hash === '#take-part') void open(first, false);
  for (const name of formsWithDraft()) openDrafted(name, links);
}

/** `name`: the kind, and the id of what is answered. */
function openDrafted(name: string, links: readonly HTMLAnchorElement[]): void {
  const [kind, answered = ''] = name.split(' ');
  const link =
    links.find(({ href }) => {
      const { searchParams } = new URL(href);
      const inReplyTo = searchParams.get('inReplyTo') ?? '';
      return searchParams.get('kind') === kind && inReplyTo === answered;
    }) ?? elementWithId(answered)?.querySelector<HTMLAnchorElement>(':scope > .entry-foot .reply');
  if (link) void open(link, false);
}

async function open(link: HTMLAnchorElement, isAskedFor: boolean): Promise<void> {
  const page = await fetchDocument(link.href).catch(() => undefined);
  const form = page?.querySelector<HTMLFormElement>('form[data-kind]') ?? null;
  if (form === null) return location.assign(link.href);
  const section = link.closest('#take-part');
  const place = section ?? document.createElement('div');
  if (section === null) {
    place.className = 'entry-reply';
    link.closest('.entry-foot')?.after(place);
  } else for (const other of section.querySelectorAll('a[aria-expanded="true"]')) close(other);
  for (const old of place.querySelectorAll(':scope > :not(ul)')) old.remove();
  link.ariaExpanded = 'true';
  place.append(form);
  new SpeakForm(form, () => (link.ariaExpanded = 'false')).start(isAskedFor);
}

/** What was typed stays as a draft. */
function close(link: Element): void {
  link.ariaExpanded = 'false';
  const place = link.closest('#take-part') ?? link.closest('.entry-foot')?.nextElementSibling;
  const form = place?.querySelector('form');
  form?.dispatchEvent(new Event('close'));
  form?.remove();
  if (place?.className === 'entry-reply') place.remove();
}
