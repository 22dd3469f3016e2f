/** The gateway's answer to a first contact: a welcome, who seeks the same, and where to go from here. */
import { isKind, visitorPagePath } from '@open-presence/protocol';

import type { StoredEntry } from './send.ts';

export function showContact(template: HTMLTemplateElement, entry: StoredEntry): Node {
  const content = template.content.cloneNode(true) as DocumentFragment;
  const section = content.querySelector<HTMLElement>('.contact');
  const { welcome = '', companions = [], next = [] } = entry;
  content.querySelector('.welcome')?.append(welcome);
  if (companions.length > 0) content.querySelector('.alone')?.remove();
  for (const { id, ai_identity: name, seeking = [] } of companions) {
    const item = linkTo(name === undefined ? `/entries/${id}` : visitorPagePath(name), name ?? id);
    const sought = document.createElement('bdi');
    sought.textContent = seeking.join(', ');
    if (seeking.length > 0) item.append(` ${section?.dataset['seeks'] ?? ''} `, sought);
    content.querySelector('.companions')?.append(item);
  }
  for (const { method, path, title } of next) {
    const kind = path.replace('/api/', '');
    const page = method === 'POST' && isKind(kind) ? `/write?kind=${kind}` : path;
    content.querySelector('.next')?.append(linkTo(page, title));
  }
  return content;
}

function linkTo(href: string, text: string): HTMLLIElement {
  const [item, link, name] = ['li', 'a', 'bdi'].map((tag) => document.createElement(tag));
  link?.setAttribute('href', href);
  name?.append(text);
  link?.append(name ?? '');
  item?.append(link ?? '');
  return item as HTMLLIElement;
}
