/** What the OpenAPI document says of feeds (PROTOCOL.md section 15). */
import {
  entryPagePath,
  entryPath,
  EVERYTHING,
  FEED_FORMS,
  type FeedForm,
  feedPath,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';

import type {
  Content,
  JsonObject,
  Localization,
  OperationDetails,
} from '../../http/route-description.ts';
import { LISTED_SCOPES } from '../../operations/listing-scope.ts';
import { EXAMPLE_ADDRESS, exampleEntry, schemaRef, TEXT } from '../openapi-parts.ts';
import { atomOf } from './atom.ts';
import { LIMIT } from './feed-request.ts';
import { jsonFeedOf } from './json-feed.ts';
import type { Page } from './page.ts';

/** By form; the feeds of all listings are alike. */
export function content(localization: Localization): Record<FeedForm, Content> {
  const atom = atomOf(examplePage(localization, 'atom'));
  const json: unknown = JSON.parse(jsonFeedOf(examplePage(localization, 'json-feed')));
  return {
    atom: { schema: TEXT, example: atom },
    'json-feed': { schema: schemaRef('JsonFeed'), example: json },
  };
}

/** Feeds take all parameters of their listing, where these are described. */
export function operations(): Record<string, OperationDetails> {
  const brief: OperationDetails = { parameters: [LIMIT, 'as'] };
  const paths = FEED_FORMS.flatMap((form) => [
    SHORT_FEED_PATHS[form],
    ...LISTED_SCOPES.map(([listing]) => feedPath(listing, form)),
  ]);
  return Object.fromEntries(paths.map((path) => [`GET ${path}`, brief]));
}

function examplePage(localization: Localization, form: FeedForm): Page {
  const { language, text } = localization;
  const entry = exampleEntry(language);
  const member = (name: string): string => String(entry[name]);
  const self = feedPath(EVERYTHING, form);
  return {
    ...localization,
    base: EXAMPLE_ADDRESS,
    id: 'urn:uuid:2f1b7c9a-0c1d-8e3f-a4b5-6c7d8e9f0a1b',
    title: `${text(language.service)} · ${EVERYTHING}`,
    links: { self, first: self, listing: EVERYTHING },
    next: `${self}?before=${member('seq')}`,
    page: '/',
    updated: member('timestamp'),
    items: [
      {
        id: member('id'),
        kind: 'garden',
        room: member('room'),
        timestamp: member('timestamp'),
        path: entryPath(member('id')),
        page: entryPagePath(member('id')),
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
