/** What each path takes and answers, for the OpenAPI document. */
import { isKind, KINDS, say, type Kind } from '@open-presence/protocol';

import { FEED_TYPES } from '../feeds/addresses.ts';
import { PATHS } from '../http/discover.ts';
import { capital, problem, schema, type Json, type Voice } from './components.ts';
import { header, pathParameters, queryParameters, saidInQuery } from './parameters.ts';

/** A path that there is. */
export interface Path {
  readonly path: string;
  readonly post?: unknown;
}

/** Paths that answer one document in one form. */
const FORMS: Readonly<Record<string, readonly [type: string, schema: Json]>> = {
  '/api': ['application/json', schema('Status')],
  '/api/rooms': ['application/json', schema('Rooms')],
  '/api/entries/{id}': ['application/json', schema('Entry')],
  '/api/presence': ['application/json', schema('Presence')],
  '/api/discover': ['application/json', schema('Discovery')],
  '/healthz': ['application/json', schema('Health')],
  '/readyz': ['application/json', schema('Health')],
  '/mova-snu.yaml': ['application/yaml', {}],
  '/mova-snu.schema.json': ['application/schema+json', { type: 'object' }],
  '/openapi.json': ['application/json', { type: 'object' }],
  '/openapi.yaml': ['application/yaml', {}],
  '/.well-known/api-catalog': ['application/linkset+json', { type: 'object' }],
  '/.well-known/ai-catalog.json': ['application/ai-catalog+json', { type: 'object' }],
  '/reference': ['text/html', { type: 'string' }],
  '/llms.txt': ['text/plain', { type: 'string' }],
  '/robots.txt': ['text/plain', { type: 'string' }],
  '/skill.md': ['text/markdown', { type: 'string' }],
  '/protocol.md': ['text/markdown', { type: 'string' }],
};

const TEXT = { schema: { type: 'string' } };
const READ_ERRORS = [400, 500, 503];
const LISTING = /^\/api\/(?:rooms\/\{slug\}|entries\/\{id\}\/replies)$/;
const OF_SEVERAL_KINDS = new Set(['kind']);
const OF_SEARCH = new Set(['skip']);

/** The item of a path, by the paths that stand for it: saying by GET has one for each kind. */
export function itemsOf(voice: Voice, route: Path): [string, Json][] {
  const { path, post } = route;
  if (path === '/api/say/{kind}') {
    return KINDS.map((kind) => [`/api/say/${kind}`, { get: sayByGet(voice, kind) }]);
  }
  const kind = path.slice('/api/'.length);
  if (path.startsWith('/api/') && isKind(kind)) {
    return [[path, { get: listKind(voice, kind), post: sayByPost(voice, kind) }]];
  }
  const get = getOf(voice, path);
  if (post === undefined) return [[path, { get }]];
  const responses = anyAnswers(voice, path);
  const other = operation(voice, path, { id: `post${idOf(path)}`, responses });
  const content = { 'application/json': { schema: {} } };
  return [[path, { get, post: { ...other, requestBody: { content } } }]];
}

function getOf(voice: Voice, path: string): Json {
  if (path === '/') return operation(voice, path, { id: 'home', responses: homeAnswers(voice) });
  if (LISTING.test(path)) {
    const name = path.endsWith('replies') ? 'Listing' : 'RoomListing';
    const parameters = queryParameters(voice, (one) => !OF_SEARCH.has(one));
    const responses = listed(voice, name, [404]);
    return operation(voice, path, { parameters, responses });
  }
  if (path === '/api/events') {
    const described = queryParameters(voice, (name) => name !== 'q' && !OF_SEARCH.has(name));
    const parameters = [...described, resumed(voice)];
    const content = { 'text/event-stream': TEXT };
    return operation(voice, path, { parameters, responses: answers(voice, content, [422]) });
  }
  if (path === '/api/presence') {
    const parameters = queryParameters(voice, (name) => ['limit', 'room', 'as'].includes(name));
    const content = { 'application/json': { schema: schema('Presence') } };
    return operation(voice, path, { parameters, responses: answers(voice, content, [422]) });
  }
  if (path === '/api/search') {
    const words = queryParameters(voice, (name) => name === 'q');
    const others = queryParameters(voice, (name) => !['q', 'order'].includes(name));
    const parameters = [...words.map((one) => ({ ...one, required: true })), ...others];
    const content = { 'application/json': { schema: schema('Search') } };
    return operation(voice, path, { parameters, responses: answers(voice, content, [422]) });
  }
  const form = FORMS[path];
  if (form === undefined) return operation(voice, path, { responses: anyAnswers(voice, path) });
  const parameters = queryParameters(voice, (name) => name === 'as');
  return operation(voice, path, { parameters, responses: documentAnswers(voice, path, form) });
}

/** Of doors that have descriptions of their own. */
function anyAnswers(voice: Voice, path: string): Json {
  const form = FEEDS.find(([pattern]) => pattern.test(path))?.[1] ?? '*/*';
  const answer = { description: worded(voice, 'done'), content: { [form]: {} } };
  return { 200: answer, default: { ...answer, content: { '*/*': {} } } };
}

const FEEDS: readonly (readonly [RegExp, string])[] = [
  [/\.atom$/, FEED_TYPES.atom],
  [/(?:\.json-feed|^\/feed\.json)$/, FEED_TYPES['json-feed']],
];

function documentAnswers(voice: Voice, path: string, [type, form]: readonly [string, Json]): Json {
  const content = { [type]: { schema: form } };
  const tagged = !['/api', '/healthz', '/readyz'].includes(path);
  const all = answers(voice, content, path.includes('{') ? [404] : [], tagged);
  return path === '/readyz'
    ? { ...all, 503: { description: worded(voice, 'done'), content } }
    : all;
}

function homeAnswers(voice: Voice): Json {
  const content = {
    'application/json': { schema: schema('Status') },
    'text/markdown': TEXT,
    'text/plain': TEXT,
    'text/html': TEXT,
  };
  return answers(voice, content, [], false);
}

function listKind(voice: Voice, kind: Kind): Json {
  const { meaning } = voice.language.kinds[kind];
  return {
    operationId: `list${capital(kind)}`,
    tags: ['kinds'],
    summary: say(meaning, voice.tongue),
    description: worded(voice, 'readingHow'),
    parameters: queryParameters(voice, (name) => {
      return !OF_SEVERAL_KINDS.has(name) && !OF_SEARCH.has(name);
    }),
    responses: listed(voice, 'Listing'),
  };
}

function sayByPost(voice: Voice, kind: Kind): Json {
  const { language, tongue } = voice;
  const { title, meaning, sentences } = language.kinds[kind];
  const examples = sentences.map(({ meaning: said, body }, at) => {
    return [`${kind}${at + 1}`, { summary: say(said, tongue), value: body }] as const;
  });
  const body = schema(`${capital(kind)}Body`);
  return {
    operationId: `say${capital(kind)}`,
    tags: ['kinds'],
    summary: say(title, tongue),
    description: say(meaning, tongue),
    parameters: [header(voice, 'Idempotency-Key', 'key'), header(voice, 'Prefer', 'minimal')],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: body, examples: Object.fromEntries(examples) } },
    },
    responses: said(voice, kind),
  };
}

function sayByGet(voice: Voice, kind: Kind): Json {
  const { language, tongue } = voice;
  const nothing = { 204: { description: worded(voice, 'nothingSaid') } };
  return {
    operationId: `say${capital(kind)}ByGet`,
    tags: ['kinds'],
    summary: say(language.kinds[kind].title, tongue),
    description: `${say(language.doors.say, tongue)} ${worded(voice, 'byGetHow')}`,
    parameters: saidInQuery(voice, kind),
    responses: { ...said(voice, kind), ...nothing },
  };
}

/** The answers to whoever says something. */
function said(voice: Voice, kind: Kind): Json {
  const { language, tongue } = voice;
  const form = schema(kind === 'resonance' ? 'FirstContact' : 'Entry');
  const parameters = { id: '$response.body#/id' };
  const kept = {
    description: worded(voice, 'kept'),
    headers: { Location: { schema: { type: 'string', format: 'uri-reference' } } },
    content: { 'application/json': { schema: form } },
    links: {
      entry: { operationId: 'entry', parameters, description: say(language.doors.entry, tongue) },
      replies: {
        operationId: 'replies',
        parameters,
        description: say(language.doors.replies, tongue),
      },
    },
  };
  return { 201: kept, ...problems([400, 422, 500, 503, 507]) };
}

function listed(voice: Voice, name: string, more: readonly number[] = []): Json {
  const content = {
    'application/json': { schema: schema(name) },
    'application/x-ndjson': TEXT,
    'text/event-stream': TEXT,
    [FEED_TYPES.atom]: TEXT,
    [FEED_TYPES['json-feed']]: { schema: { type: 'object' } },
  };
  return answers(voice, content, [...more, 422]);
}

function answers(voice: Voice, content: Json, more: readonly number[], tagged = true): Json {
  const unchanged = tagged ? { 304: { description: worded(voice, 'unchanged') } } : {};
  return {
    200: { description: worded(voice, 'done'), content },
    ...unchanged,
    ...problems([...READ_ERRORS, ...more]),
  };
}

function problems(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, problem(status)]));
}

function resumed(voice: Voice): Json {
  return header(voice, 'Last-Event-ID', 'lastEvent');
}

function worded({ language, tongue }: Voice, name: keyof Voice['language']['pages']): string {
  return say(language.pages[name], tongue);
}

interface Parts {
  readonly id?: string;
  readonly parameters?: readonly Json[];
  readonly responses: Json;
}

/** An operation of a path that has a door, in the door's words. */
function operation(voice: Voice, path: string, { id, parameters = [], responses }: Parts): Json {
  const { language, tongue } = voice;
  const door = doorAt(path);
  const like = door ?? LIKE.find(([pattern]) => pattern.test(path))?.[1];
  const words = Object.entries(language.doors).find(([name]) => name === like)?.[1];
  const meaning = words === undefined ? path : say(words, tongue);
  return {
    operationId: id ?? door ?? `get${idOf(path)}`,
    tags: [tagOf(path)],
    summary: meaning,
    description: meaning,
    parameters: [...pathParameters(voice, path), ...parameters],
    responses,
  };
}

/** Paths without a door of their own, by the door whose words are theirs too. */
const LIKE: readonly (readonly [RegExp, string])[] = [
  [/\.atom$/, 'feed'],
  [/\.json-feed$/, 'jsonFeed'],
  [/^\/mcp\//, 'mcp'],
];

/** The name of the door at a path: `/` and `/api` are the same one. */
function doorAt(path: string): string | undefined {
  const sought = path === '/' ? '/api' : path;
  return Object.keys(PATHS).find((name) => PATHS[name]?.split('?', 1)[0] === sought);
}

function idOf(path: string): string {
  return path
    .split(/[^A-Za-z0-9]+/)
    .map(capital)
    .join('');
}

function tagOf(path: string): string {
  if (path === '/api/presence') return 'here';
  return /^\/api\/(?:rooms|entries|events|search)/.test(path) ? 'rooms' : 'doors';
}
