/** The paths that there are, what they take, and what is said where nothing is (section 11). */
import type { IncomingMessage } from 'node:http';

import {
  EVERYTHING,
  FEED_FORMS,
  type FeedForm,
  feedPath,
  GatewayError,
  JSON_RPC_PATH,
  type Kind,
  KINDS,
  REST_PATH,
} from '@open-presence/protocol';

import { agentCard, jsonRpc, oldAgentCard, rest } from './doors/a2a/a2a.ts';
import { serverCard } from './doors/mcp/card.ts';
import { aboutMcp, mcp } from './doors/mcp/mcp.ts';
import { about, home } from './doors/docs/docs.ts';
import { COMMON } from './http/answers.ts';
import { contribute } from './doors/rest/contribute.ts';
import { discover } from './doors/rest/discover.ts';
import { allEvents } from './doors/rest/events.ts';
import type { RequestContext, Handler } from './http/context.ts';
import { languageFile, languageSchema } from './doors/rest/language.ts';
import { feedAt, listing, type ListingScope } from './doors/rest/listing.ts';
import { feedOfReplies, oneEntry, replies } from './doors/rest/one-entry.ts';
import { EVERYTHING_SCOPE, kindScope } from './operations/listing-scope.ts';
import { presence } from './doors/rest/presence.ts';
import { problem, quoted } from './http/problem.ts';
import { robots } from './doors/docs/robots.ts';
import { feedOfRoom, room, rooms } from './doors/rest/rooms.ts';
import { say } from './doors/rest/say-by-get.ts';
import { search } from './doors/rest/search.ts';
import { healthz, readyz, status } from './doors/rest/status.ts';

export interface Route {
  /** Variable parts stand in braces. */
  readonly path: string;
  readonly get: Handler;
  readonly post?: Handler;
}

export const ROUTES: readonly Route[] = [
  { path: '/', get: home(() => ROUTES) },
  { path: '/api', get: status },
  ...KINDS.map((kind) => ({
    path: `/api/${kind}`,
    get: listingOf(kind),
    post: contribute(kind),
  })),
  { path: '/api/rooms', get: rooms },
  { path: '/api/rooms/{slug}', get: room },
  { path: '/api/entries/{id}', get: oneEntry },
  { path: '/api/entries/{id}/replies', get: replies },
  { path: '/api/search', get: search },
  { path: '/api/presence', get: presence },
  { path: '/api/events', get: allEvents },
  { path: '/api/discover', get: discover },
  { path: '/api/say/{kind}', get: say },
  ...FEED_FORMS.flatMap((form) => [
    { path: feedPath(EVERYTHING, form), get: feedOf(EVERYTHING_SCOPE, form) },
    ...KINDS.map((kind) => ({
      path: feedPath(`/api/${kind}`, form),
      get: feedOf(kindScope(kind), form),
    })),
    { path: feedPath('/api/rooms/{slug}', form), get: feedOfRoom(form) },
    { path: feedPath('/api/entries/{id}/replies', form), get: feedOfReplies(form) },
  ]),
  { path: '/mcp', get: aboutMcp, post: mcp },
  { path: '/mcp/server-card', get: serverCard },
  { path: '/.well-known/agent-card.json', get: agentCard },
  { path: '/.well-known/agent.json', get: oldAgentCard },
  { path: JSON_RPC_PATH, get: agentCard, post: jsonRpc },
  { path: `${REST_PATH}/message:send`, get: agentCard, post: rest('send') },
  { path: `${REST_PATH}/message:stream`, get: agentCard, post: rest('stream') },
  { path: `${REST_PATH}/tasks`, get: rest('list') },
  { path: `${REST_PATH}/tasks/{id}`, get: rest('task'), post: rest('task') },
  { path: '/mova-snu.yaml', get: languageFile },
  { path: '/mova-snu.schema.json', get: languageSchema },
  { path: '/openapi.json', get: about('openapi', () => ROUTES) },
  { path: '/openapi.yaml', get: about('openapiYaml', () => ROUTES) },
  { path: '/reference', get: about('reference', () => ROUTES) },
  { path: '/llms.txt', get: about('llms', () => ROUTES) },
  { path: '/skill.md', get: about('skill', () => ROUTES) },
  { path: '/protocol.md', get: about('protocol', () => ROUTES) },
  { path: '/.well-known/api-catalog', get: about('apiCatalog', () => ROUTES) },
  { path: '/.well-known/ai-catalog.json', get: about('aiCatalog', () => ROUTES) },
  { path: '/robots.txt', get: robots },
  { path: '/healthz', get: healthz },
  { path: '/readyz', get: readyz },
];

function listingOf(kind: Kind): Handler {
  const place = kindScope(kind);
  return (context) => listing(context, place);
}

function feedOf(place: ListingScope, form: FeedForm): Handler {
  return (context) => feedAt(context, place, form);
}

const PATHS = ROUTES.map(({ path }) => path);
const PATTERNS = ROUTES.map((route) => {
  const pattern = route.path.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', String.raw`\.`);
  return { route, pattern: new RegExp(`^${pattern}/?$`) };
});

/** The methods of the path that was asked for; none where there is no such path. */
export function methodsAt({ url = '' }: Pick<IncomingMessage, 'url'>): readonly string[] {
  const path = decoded(url.split(/[?#]/, 1)[0] ?? '');
  const found = path === undefined ? undefined : PATTERNS.find(({ pattern }) => pattern.test(path));
  if (found === undefined) return [];
  const { post } = found.route;
  return ['GET', 'HEAD', ...(post === undefined ? [] : ['POST']), 'OPTIONS'];
}

function decoded(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}

/** For whatever no route takes: `OPTIONS`, other methods, other paths. */
export function elsewhere(context: RequestContext): void | Promise<void> {
  const { request } = context;
  const methods = methodsAt(request);
  if (request.method === 'OPTIONS') return options(context, methods);
  if (request.url?.startsWith(`${REST_PATH}/`) === true && methods.length === 0) {
    return rest('elsewhere')(context);
  }
  if (methods.length === 0) return problem(context, noSuchPath(request));
  const headers = { Allow: methods.join(', ') };
  return problem(context, notAllowed(request, methods), { headers });
}

export function noSuchPath({ url = '' }: Pick<IncomingMessage, 'url'>): GatewayError {
  const detail = `Cannot find ${quoted(url)}: there is no such path. There are ${PATHS.join(', ')}.`;
  return new GatewayError('not-found', detail, { known: PATHS });
}

export function notAllowed(
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  methods: readonly string[],
): GatewayError {
  const detail = `Cannot ${method} ${quoted(url)}: this path takes ${methods.join(', ')}.`;
  return new GatewayError('method-not-allowed', detail, { known: methods });
}

/** A day: what a path takes changes with the gateway's version only. */
const PREFLIGHT_SECONDS = '86400';

function options({ request, response }: RequestContext, methods: readonly string[]): void {
  const allow = (methods.length === 0 ? ['OPTIONS'] : methods).join(', ');
  const { headers } = request;
  const method = headers['access-control-request-method'];
  const names = headers['access-control-request-headers'];
  const preflight = {
    // Any: what the path does not take is answered by a 405 that a page can read.
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': names ?? '*',
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
  };
  response.writeHead(204, {
    Allow: allow,
    ...(method === undefined ? {} : preflight),
    ...COMMON,
  });
  response.end();
}
