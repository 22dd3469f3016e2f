/** What the OpenAPI document says of feeds (PROTOCOL.md section 15). */
import {
  EVERYTHING,
  FEED_FORMS,
  type FeedForm,
  feedPath,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';

import type { Content, JsonObject, Localization } from '../../http/route-description.ts';
import { LISTED_SCOPES } from '../../operations/listing-scope.ts';
import { EXAMPLE_ADDRESS, exampleEntry, schemaRef, TEXT } from '../openapi-parts.ts';
import { atomOf } from './atom.ts';
import { jsonFeedOf } from './json-feed.ts';
import type { Page } from './page.ts';

/** Of feeds at addresses of their own, by path; of those at the addresses of listings, by form. */
export function content(localization: Localization): Record<string, Content> {
  const addresses = FEED_FORMS.flatMap((form) => [
    { path: SHORT_FEED_PATHS[form], form, listing: EVERYTHING },
    ...LISTED_SCOPES.map(([listing]) => ({ path: feedPath(listing, form), form, listing })),
  ]);
  return {
    atom: { schema: TEXT },
    'json-feed': { schema: schemaRef('JsonFeed') },
    ...Object.fromEntries(
      addresses.map(({ path, form, listing }) => [path, contentOf(localization, form, listing)]),
    ),
  };
}

function contentOf(localization: Localization, form: FeedForm, path: string): Content {
  const page = examplePage(localization, form, path);
  return form === 'atom'
    ? { schema: TEXT, example: atomOf(page) }
    : { schema: schemaRef('JsonFeed'), example: JSON.parse(jsonFeedOf(page)) as unknown };
}

function examplePage(localization: Localization, form: FeedForm, path: string): Page {
  const { language, text } = localization;
  const entry = exampleEntry(language);
  const member = (name: string): string => String(entry[name]);
  const listing = path.replace('{slug}', member('room')).replace('{id}', member('id'));
  const self = feedPath(listing, form);
  return {
    ...localization,
    base: EXAMPLE_ADDRESS,
    id: 'urn:uuid:2f1b7c9a-0c1d-8e3f-a4b5-6c7d8e9f0a1b',
    title: `${text(language.service)} · ${listing}`,
    self,
    first: self,
    next: `${self}?before=${member('seq')}`,
    listing,
    updated: member('timestamp'),
    items: [
      {
        id: member('id'),
        kind: 'garden',
        room: member('room'),
        timestamp: member('timestamp'),
        path: `/api/entries/${member('id')}`,
        title: [text(language.kinds.garden.name), member('identity'), member('text')].join(' · '),
        author: member('identity'),
        text: member('text'),
        truncatedSize: undefined,
      },
    ],
  };
}

const TIME = { type: 'string', format: 'date-time' };
const URL_TEXT = { type: 'string', format: 'uri' };
const AUTHORS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: TEXT, url: URL_TEXT },
    additionalProperties: false,
  },
};

const ITEM = {
  type: 'object',
  required: ['id', 'url', 'title', 'content_text', 'date_published', 'authors', 'tags'],
  properties: {
    id: { type: 'string', pattern: '^urn:uuid:' },
    url: URL_TEXT,
    title: TEXT,
    content_text: TEXT,
    summary: TEXT,
    attachments: {
      type: 'array',
      items: {
        type: 'object',
        required: ['url', 'mime_type'],
        properties: {
          url: URL_TEXT,
          mime_type: { const: 'application/json' },
          size_in_bytes: { type: 'integer', minimum: 0 },
        },
        additionalProperties: false,
      },
    },
    date_published: TIME,
    date_modified: TIME,
    authors: AUTHORS,
    tags: { type: 'array', items: TEXT },
  },
  additionalProperties: false,
};

/** https://www.jsonfeed.org/version/1.1/, as far as it is made use of. */
export const schemas: JsonObject = {
  JsonFeed: {
    type: 'object',
    required: ['version', 'title', 'home_page_url', 'feed_url', 'items'],
    properties: {
      version: { const: 'https://jsonfeed.org/version/1.1' },
      title: TEXT,
      home_page_url: URL_TEXT,
      feed_url: URL_TEXT,
      description: TEXT,
      next_url: URL_TEXT,
      authors: AUTHORS,
      items: { type: 'array', items: ITEM },
    },
    additionalProperties: false,
  },
};
