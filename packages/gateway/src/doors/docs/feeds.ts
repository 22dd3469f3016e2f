/** What the addresses of feeds take and answer, for the OpenAPI document (PROTOCOL.md section 15). */
import {
  EVERYTHING,
  FEED_FORMS,
  FEED_TYPES,
  type FeedForm,
  feedPath,
  isKind,
  localize,
} from '@open-presence/protocol';

import { atomOf } from '../feeds/atom.ts';
import { DEFAULT_LIMIT } from '../../operations/read-page.ts';
import { jsonFeedOf } from '../feeds/json-feed.ts';
import type { Page } from '../feeds/page.ts';
import { schema, type Json, type Voice } from './components.ts';
import { ADDRESS, shownEntry } from './examples.ts';
import { queryParameters, type Bent } from './parameters.ts';
import { answers, operation, worded } from './wording.ts';

const DOORS: Readonly<Record<FeedForm, string>> = { atom: 'feed', 'json-feed': 'jsonFeed' };

const NAMES: Readonly<Record<FeedForm, string>> = { atom: 'Atom', 'json-feed': 'JSON Feed' };

/** What a feed lists and in which form; undefined for a path that is no feed. */
function fedAt(path: string): { place: string; form: FeedForm } | undefined {
  for (const form of FEED_FORMS) {
    if (path === feedPath(EVERYTHING, form)) return { place: EVERYTHING, form };
    if (path.endsWith(`.${form}`)) return { place: path.slice(0, -`.${form}`.length), form };
  }
  return undefined;
}

export function feedAt(voice: Voice, path: string): Json | undefined {
  const fed = fedAt(path);
  if (fed === undefined) return undefined;
  const { place, form } = fed;
  const ofOneKind = isKind(place.slice('/api/'.length));
  const absent = new Set(ofOneKind ? ['skip', 'kind'] : ['skip']);
  const bent: Bent = { limit: { schema: { type: 'integer', minimum: 0, default: DEFAULT_LIMIT } } };
  const content = feedContent(voice, form, place);
  const responses = answers(voice, content, place.includes('{') ? [404, 422] : [422]);
  return operation(voice, path, {
    door: DOORS[form],
    ...(place === EVERYTHING ? {} : { summary: summaryOf(voice, form, place) }),
    description: worded(voice, 'feedHow'),
    parameters: queryParameters(voice, (name) => !absent.has(name), bent),
    responses,
  });
}

/** What the feed lists, and in which form. */
function summaryOf({ language, locale }: Voice, form: FeedForm, place: string): string {
  const { kinds, doors } = language;
  const kind = place.slice('/api/'.length);
  const listed = place.includes('{slug}') ? doors.room : doors.replies;
  return `${localize(isKind(kind) ? kinds[kind].meaning : listed, locale)} (${NAMES[form]})`;
}

/** A feed of what is listed at a place, as it is answered. */
function feedContent(voice: Voice, form: FeedForm, place: string): Json {
  const page = shownPage(voice, form, place);
  const media =
    form === 'atom'
      ? { schema: { type: 'string' }, example: atomOf(page) }
      : { schema: schema('JsonFeed'), example: JSON.parse(jsonFeedOf(page)) as unknown };
  return { [FEED_TYPES[form]]: media };
}

function shownPage({ language, locale }: Voice, form: FeedForm, listed: string): Page {
  const entry = shownEntry({ language, locale });
  const said = (name: string): string => String(entry[name]);
  const place = listed.replace('{slug}', said('room')).replace('{id}', said('id'));
  const { name: kind } = language.kinds.garden;
  const path = feedPath(place, form);
  return {
    language,
    locale,
    base: ADDRESS,
    id: 'urn:uuid:2f1b7c9a-0c1d-8e3f-a4b5-6c7d8e9f0a1b',
    title: `${localize(language.service, locale)} · ${place}`,
    self: path,
    first: path,
    next: `${path}?before=${said('seq')}`,
    listing: place === EVERYTHING ? '/api/discover' : place,
    updated: said('timestamp'),
    items: [
      {
        id: said('id'),
        kind: 'garden',
        room: said('room'),
        timestamp: said('timestamp'),
        path: `/api/entries/${said('id')}`,
        title: [localize(kind, locale), said('identity'), said('text')].join(' · '),
        author: said('identity'),
        text: said('text'),
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
    properties: { name: { type: 'string' }, url: URL_TEXT },
    additionalProperties: false,
  },
};

const ITEM = {
  type: 'object',
  required: ['id', 'url', 'title', 'content_text', 'date_published', 'authors', 'tags'],
  properties: {
    id: { type: 'string', pattern: '^urn:uuid:' },
    url: URL_TEXT,
    title: { type: 'string' },
    content_text: { type: 'string' },
    summary: { type: 'string' },
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
    tags: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};

/** https://www.jsonfeed.org/version/1.1/, as far as it is made use of. */
export const FEED_SCHEMAS: Json = {
  JsonFeed: {
    type: 'object',
    required: ['version', 'title', 'home_page_url', 'feed_url', 'items'],
    properties: {
      version: { const: 'https://jsonfeed.org/version/1.1' },
      title: { type: 'string' },
      home_page_url: URL_TEXT,
      feed_url: URL_TEXT,
      description: { type: 'string' },
      next_url: URL_TEXT,
      authors: AUTHORS,
      items: { type: 'array', items: ITEM },
    },
    additionalProperties: false,
  },
};
