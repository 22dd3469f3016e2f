/** The gateway's paths (PROTOCOL.md section 1). */
import type { Kind } from './kinds.ts';

/** The routes of the status document (interface section 2.1). */
export const ROUTES = {
  first_contact: 'POST /api/resonance',
  garden: 'GET/POST /api/garden',
  seeds: 'GET/POST /api/seeds',
  shepit: 'GET/POST /api/shepit',
  discover: 'GET /api/discover',
  language: 'GET /mova-snu.yaml',
} as const;
/** Where A2A is spoken (PROTOCOL.md section 19). */
export const JSON_RPC_PATH = '/a2a';

export function entryPath(id: string): string {
  return `/api/entries/${id}`;
}

export function entryPagePath(id: string): string {
  return `/entries/${id}`;
}

/** Names that URLs resolve away (empty, `.` and `..`), or with characters that proxies change in a path. */
const NOT_IN_PATHS = /^\.{0,2}$|[/\\%\p{Cc}]/u;

/** The page of the visitors who use this name (PROTOCOL.md section 17.6). */
export function visitorPagePath(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed());
  return NOT_IN_PATHS.test(name) ? `/visitors?name=${encoded}` : `/visitors/${encoded}`;
}

const SHOWN_BY_PAGES = /^\/api(\/(?:entries\/[^/]+|rooms\/[^/]+|search|garden))$/;

/** The page that shows the answer of an API path, if there is one (PROTOCOL.md section 17.5). */
export function pagePath(path: string): string | undefined {
  return SHOWN_BY_PAGES.exec(path)?.[1];
}

/** For a `Link` header: the page that shows the answer of a path. */
export function pageLinks(path: string): string[] {
  const page = pagePath(path);
  return page === undefined ? [] : [`<${page}>; rel="alternate"; type="text/html"`];
}

/** The GET path that appends this body. Leaves out values that are not strings. */
export function sayPath(kind: Kind, body: unknown): string {
  const pairs = Object.entries(typeof body === 'object' && body !== null ? body : {}).flatMap(
    ([name, value]: [string, unknown]) => {
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      return values.flatMap((element) =>
        typeof element === 'string'
          ? [`${encodeURIComponent(name)}=${encodeURIComponent(element)}`]
          : [],
      );
    },
  );
  return pairs.length === 0 ? `/api/say/${kind}` : `/api/say/${kind}?${pairs.join('&')}`;
}

/** The forms of a feed (PROTOCOL.md section 15.1). */
export const FEED_FORMS = ['atom', 'json-feed'] as const;
export type FeedForm = (typeof FEED_FORMS)[number];

export const FEED_TYPES: Readonly<Record<FeedForm, string>> = {
  atom: 'application/atom+xml',
  'json-feed': 'application/feed+json',
};

/** The listing of all entries. */
export const EVERYTHING = '/api/entries';

/** The feeds of all entries at their short addresses. */
export const SHORT_FEED_PATHS: Readonly<Record<FeedForm, string>> = {
  atom: '/feed.atom',
  'json-feed': '/feed.json',
};

export function feedPath(path: string, form: FeedForm): string {
  return `${path}.${form}`;
}

/** For a `Link` header: the feeds of a listing, and the page that shows it. */
export function listingLinks(path: string): string {
  const feeds = FEED_FORMS.map((form) => {
    return `<${feedPath(path, form)}>; rel="alternate"; type="${FEED_TYPES[form]}"`;
  });
  return [...feeds, ...pageLinks(path)].join(', ');
}

interface ServiceLink {
  readonly href: string;
  readonly rel: string;
  readonly type: string;
}

/** The manifest of Agentic Resource Discovery. */
export const ARD_PATH = '/.well-known/ard.json';

/** Descriptions of the gateway (RFC 8288, RFC 8631). */
export const SERVICE_LINKS: readonly ServiceLink[] = [
  { href: '/openapi.json', rel: 'service-desc', type: 'application/json' },
  { href: '/speak', rel: 'service-doc', type: 'text/html' },
  { href: '/protocol.md', rel: 'service-doc', type: 'text/markdown' },
  { href: '/llms.txt', rel: 'alternate', type: 'text/plain' },
  { href: '/mova-snu.yaml', rel: 'describedby', type: 'application/yaml' },
  { href: '/.well-known/api-catalog', rel: 'api-catalog', type: 'application/linkset+json' },
  { href: ARD_PATH, rel: 'ard', type: 'application/json' },
];

export const SERVICE_LINK_HEADER: Readonly<Record<string, string>> = {
  Link: SERVICE_LINKS.map(({ href, rel, type }) => `<${href}>; rel="${rel}"; type="${type}"`).join(
    ', ',
  ),
};
