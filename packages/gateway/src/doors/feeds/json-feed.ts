/** Writes a page as JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/). */
import { portableJson } from '@open-presence/protocol';

import type { Item, Page } from './item.ts';

export function jsonFeedOf(page: Page): string {
  const { language, text, base, links, next } = page;
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title: page.title,
    home_page_url: base + page.page,
    feed_url: base + links.first,
    description: text(language.labels.trust),
    ...(next === null ? {} : { next_url: base + next }),
    authors: [{ name: text(language.service), url: `${base}/` }],
    items: page.items.map((item) => itemOf(item, page)),
  };
  return `${portableJson(feed)}\n`;
}

function itemOf(item: Item, { base, language, text: localized }: Page): object {
  const url = base + item.page;
  const entry = base + item.path;
  const text = item.text;
  const { truncatedSize } = item;
  return {
    id: `urn:uuid:${item.id}`,
    url,
    title: item.title,
    ...(truncatedSize === undefined
      ? { content_text: text }
      : {
          content_text: `${text}\n\n${localized(language.labels.long)}\n${url}`,
          summary: text,
          attachments: [
            { url: entry, mime_type: 'application/json', size_in_bytes: truncatedSize },
          ],
        }),
    date_published: item.timestamp,
    date_modified: item.withheld?.at ?? item.timestamp,
    authors: [
      {
        name: item.author,
        ...(item.authorPage === undefined ? {} : { url: base + item.authorPage }),
      },
    ],
    tags: [item.kind, item.room],
  };
}
