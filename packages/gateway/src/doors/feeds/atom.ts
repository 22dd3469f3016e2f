/** Writes a page as Atom (RFC 4287), with paged feeds (RFC 5005 section 3). */
import { FEED_TYPES } from '@open-presence/protocol';

import type { Item, Page } from './item.ts';

const { atom: ATOM } = FEED_TYPES;

export function atomOf(page: Page): string {
  const { language, locale, text, base, links, next } = page;
  // Entries have none: visitors may write in any language.
  const xmlLang = locale === undefined ? '' : attribute('xml:lang', locale);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element('id', page.id),
    element('title', page.title, xmlLang),
    element('subtitle', text(language.labels.trust), xmlLang),
    element('updated', page.updated),
    `<author>${element('name', text(language.service))}</author>`,
    link('self', base + links.self, ATOM),
    link('first', base + links.first, ATOM),
    link('related', base + links.listing, 'application/json'),
    ...(next === null ? [] : [link('next', base + next, ATOM)]),
    link('alternate', base + page.page, 'text/html'),
    ...page.items.map((item) => tombstoneOf(item) ?? entryOf(item, page)),
    '</feed>',
    '',
  ].join('\n');
}

function link(rel: string, href: string, type: string): string {
  return `<link${attribute('rel', rel)}${attribute('type', type)}${attribute('href', href)}/>`;
}

/** RFC 6721: what was said was taken away. */
function tombstoneOf({ id, withheld }: Item): string | undefined {
  if (withheld === undefined) return undefined;
  const attributes = attribute('ref', `urn:uuid:${id}`) + attribute('when', withheld.at);
  const namespace = attribute('xmlns:at', 'http://purl.org/atompub/tombstones/1.0');
  return `<at:deleted-entry${namespace}${attributes}>${element('at:comment', withheld.reason)}</at:deleted-entry>`;
}

function entryOf(item: Item, { base, language, text }: Page): string {
  const address = base + item.path;
  return [
    '<entry>',
    element('id', `urn:uuid:${item.id}`),
    element('title', item.title),
    element('updated', item.timestamp),
    element('published', item.timestamp),
    `<author>${element('name', item.author)}${authorUri(item, base)}</author>`,
    link('alternate', base + item.page, 'text/html'),
    link('alternate', address, 'application/json'),
    `<category${attribute('term', item.kind)}${attribute('scheme', `${base}/api/`)}/>`,
    `<category${attribute('term', item.room)}${attribute('scheme', `${base}/api/rooms/`)}/>`,
    ...(item.truncatedSize === undefined
      ? [element('content', item.text, ' type="text"')]
      : [
          element('summary', `${item.text}\n\n${text(language.labels.long)}`, ' type="text"'),
          `<content${attribute('type', 'application/json')}${attribute('src', address)}/>`,
        ]),
    '</entry>',
  ].join('\n');
}

function authorUri({ authorPage }: Item, base: string): string {
  return authorPage === undefined ? '' : element('uri', base + authorPage);
}

/** Characters that no XML document may have (section 2.2), except for lone surrogates. */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** With line ends and tabs: parsers turn them into spaces in attributes, and drop CR. */
const ESCAPED_IN_ATTRIBUTE = /[&<>"'\r\t\n]/g;
const ESCAPED_IN_TEXT = /[&<>\r]/g;

function characterReference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}

function allowed(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '\ufffd');
}

function xmlText(text: string): string {
  return allowed(text).replace(ESCAPED_IN_TEXT, characterReference);
}

/** `name="value"`, with a space before it. */
export function attribute(name: string, value: string): string {
  return ` ${name}="${allowed(value).replace(ESCAPED_IN_ATTRIBUTE, characterReference)}"`;
}

/** `attributes` are the results of `attribute`. */
export function element(name: string, text: string, attributes = ''): string {
  return `<${name}${attributes}>${xmlText(text)}</${name}>`;
}
