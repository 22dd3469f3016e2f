/** What each path takes and answers, for the OpenAPI document. */
import { FEED_TYPES, isKind, type Kind, KINDS, localize } from '@open-presence/protocol';

import { agentItemsOf } from './agents.ts';
import { capital, schema, type Json, type Voice } from './components.ts';
import { documentAt, formAt, homeAt } from './documents.ts';
import type { RouteSummary } from '../../http/context.ts';
import {
  shownEvents,
  shownKept,
  shownLines,
  shownListing,
  shownPresence,
  shownRoom,
  shownSearch,
} from './examples.ts';
import { feedAt } from './feeds.ts';
import { header, keyParameter, queryParameters, saidInQuery, type Bent } from './parameters.ts';
import { answers, operation, problems, worded } from './wording.ts';

const TEXT = { type: 'string' };
const OF_ONE_KIND = new Set(['kind', 'skip']);
const OF_SEARCH = new Set(['skip']);
/** What says nothing to who follows: streams go on, in the order in which things are said. */
const OF_PAGES = new Set(['order', 'before', 'until', 'wait', 'q', 'skip']);

/** The item of a path, by the paths that stand for it: saying by GET has one for each kind. */
export function itemsOf(voice: Voice, { path }: RouteSummary): [string, Json][] {
  if (path === '/api/say/{kind}') {
    return KINDS.map((kind) => [`/api/say/${kind}`, { get: sayByGet(voice, kind) }]);
  }
  const kind = path.slice('/api/'.length);
  if (path.startsWith('/api/') && isKind(kind)) {
    return [[path, { get: listKind(voice, kind), post: sayByPost(voice, kind) }]];
  }
  return agentItemsOf(voice, path) ?? [[path, { get: getOf(voice, path) }]];
}

/** Throws for a path that nothing is known of. */
function getOf(voice: Voice, path: string): Json {
  switch (path) {
    case '/':
      return homeAt(voice);
    case '/api/events':
      return eventsAt(voice, path);
    case '/api/presence':
      return presenceAt(voice, path);
    case '/api/search':
      return searchAt(voice, path);
    case '/api/rooms/{slug}':
      return listed(voice, path, ['RoomListing', shownRoom(voice)]);
    case '/api/entries/{id}/replies':
      return listed(voice, path, ['Listing', shownListing(voice)]);
    default: {
      const fed = feedAt(voice, path);
      if (fed !== undefined) return fed;
      const form = formAt(voice, path);
      if (form === undefined) throw new Error(`Nothing describes ${path}`);
      return documentAt(voice, path, form);
    }
  }
}

function eventsAt(voice: Voice, path: string): Json {
  const kinds = [...KINDS, 'presence'];
  const bent: Bent = {
    kind: {
      schema: { type: 'array', items: { type: 'string', enum: kinds } },
      example: ['garden', 'presence'],
    },
  };
  const described = queryParameters(voice, (name) => !OF_PAGES.has(name), bent);
  const parameters = [...described, resumed(voice)];
  const content = { 'text/event-stream': { schema: TEXT, example: shownEvents(voice) } };
  return operation(voice, path, { parameters, responses: answers(voice, content, [422], false) });
}

/** Where a stream goes on, of whatever can be followed as one. */
function resumed(voice: Voice): Json {
  return { ...header(voice, 'Last-Event-ID', 'lastEvent'), example: '0' };
}

function presenceAt(voice: Voice, path: string): Json {
  const parameters = queryParameters(voice, (name) => ['limit', 'room', 'as'].includes(name));
  const example = shownPresence(voice);
  const content = { 'application/json': { schema: schema('Presence'), example } };
  return operation(voice, path, { parameters, responses: answers(voice, content, [422], false) });
}

function searchAt(voice: Voice, path: string): Json {
  const bent: Bent = {
    q: { required: true },
    order: {
      description: worded(voice, 'best'),
      schema: { type: 'string', enum: ['best', 'newest', 'oldest'], default: 'best' },
      example: 'best',
    },
  };
  const words = queryParameters(voice, (name) => name === 'q', bent);
  const others = queryParameters(voice, (name) => name !== 'q', bent);
  const content = { 'application/json': { schema: schema('Search'), example: shownSearch(voice) } };
  const parameters = [...words, ...others];
  return operation(voice, path, { parameters, responses: answers(voice, content, [422]) });
}

function listKind(voice: Voice, kind: Kind): Json {
  const { meaning } = voice.language.kinds[kind];
  const content = listingContent(voice, ['Listing', shownListing(voice)]);
  return {
    operationId: `list${capital(kind)}`,
    tags: ['kinds'],
    summary: localize(meaning, voice.locale),
    description: worded(voice, 'readingHow'),
    parameters: [...queryParameters(voice, (name) => !OF_ONE_KIND.has(name)), resumed(voice)],
    responses: answers(voice, content, [422]),
  };
}

type Listed = readonly [name: string, example: Json];

function listed(voice: Voice, path: string, shown: Listed): Json {
  const described = queryParameters(voice, (name) => !OF_SEARCH.has(name));
  const parameters = [...described, resumed(voice)];
  const responses = answers(voice, listingContent(voice, shown), [404, 422]);
  return operation(voice, path, { parameters, responses });
}

/** The forms of a listing. */
function listingContent(voice: Voice, [name, example]: Listed): Json {
  return {
    'application/json': { schema: schema(name), example },
    'application/x-ndjson': { schema: TEXT, example: shownLines(voice) },
    'text/event-stream': { schema: TEXT, example: shownEvents(voice) },
    [FEED_TYPES.atom]: { schema: TEXT },
    [FEED_TYPES['json-feed']]: { schema: schema('JsonFeed') },
  };
}

function sayByPost(voice: Voice, kind: Kind): Json {
  const { language, locale } = voice;
  const { title, meaning, sentences } = language.kinds[kind];
  const examples = sentences.map(({ meaning: said, body }, at) => {
    return [`${kind}${at + 1}`, { summary: localize(said, locale), value: body }] as const;
  });
  const body = schema(`${capital(kind)}Body`);
  const minimal = { ...header(voice, 'Prefer', 'minimal'), example: 'return=minimal' };
  return {
    operationId: `say${capital(kind)}`,
    tags: ['kinds'],
    summary: localize(title, locale),
    description: localize(meaning, locale),
    parameters: [header(voice, 'Idempotency-Key', 'key'), minimal, keyParameter(voice)],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: body, examples: Object.fromEntries(examples) } },
    },
    responses: said(voice, kind),
  };
}

function sayByGet(voice: Voice, kind: Kind): Json {
  const { language, locale } = voice;
  const nothing = { 204: { description: worded(voice, 'nothingSaid') } };
  return {
    operationId: `say${capital(kind)}ByGet`,
    tags: ['kinds'],
    summary: localize(language.kinds[kind].title, locale),
    description: `${localize(language.doors.say, locale)} ${worded(voice, 'byGetHow')}`,
    parameters: saidInQuery(voice, kind),
    responses: { ...said(voice, kind), ...nothing },
  };
}

/** Operations that take the id of an entry. */
const LINKED = [
  ['entry', 'entry', 'entry'],
  ['replies', 'replies', 'replies'],
  ['feed', 'feed', 'getApiEntriesIdRepliesAtom'],
  ['jsonFeed', 'jsonFeed', 'getApiEntriesIdRepliesJsonFeed'],
] as const;

/** The answers to whoever says something. */
function said(voice: Voice, kind: Kind): Json {
  const { language, locale } = voice;
  const form = schema(kind === 'resonance' ? 'FirstContact' : 'Entry');
  const example = shownKept(voice, kind);
  const kept = {
    description: worded(voice, 'kept'),
    headers: { Location: { schema: { type: 'string', format: 'uri-reference' } } },
    content: { 'application/json': { schema: form, example } },
    links: Object.fromEntries(
      LINKED.map(([name, door, operationId]) => {
        const parameters = { id: '$response.body#/id' };
        const description = localize(language.doors[door], locale);
        return [name, { operationId, parameters, description }] as const;
      }),
    ),
  };
  return { 201: kept, ...problems([400, 422, 500, 503, 507]) };
}
