/** Paths that answer one document in one form, for the OpenAPI document. */
import { localize } from '@open-presence/protocol';

import { cardOf, legacyCardOf } from '../a2a/agent-card.ts';
import { REVISIONS, SERVER_NAME } from '../mcp/server-card.ts';
import { schema, type Json, type Voice } from './components.ts';
import * as shown from './examples.ts';
import { aiCatalog, apiCatalog } from './catalogs.ts';
import { queryParameters } from './parameters.ts';
import { answers, operation } from './wording.ts';

const TEXT = { type: 'string' };
const OBJECT = { type: 'object' };

interface Form {
  readonly type: string;
  readonly schema: Json;
  readonly example: unknown;
}

function form(type: string, schema: Json, example: unknown): Form {
  return { type, schema, example };
}

/** What is answered at a path; undefined where that is no single document. */
export function formAt(voice: Voice, path: string): Form | undefined {
  return FORMS[path]?.(voice);
}

const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
const MARKDOWN = 'text/markdown';

const FORMS: Readonly<Record<string, (voice: Voice) => Form>> = {
  '/api': (voice) => form(JSON_TYPE, schema('Status'), shown.shownStatus(voice)),
  '/api/rooms': (voice) => form(JSON_TYPE, schema('Rooms'), shown.shownRooms(voice)),
  '/api/entries/{id}': (voice) => form(JSON_TYPE, schema('Entry'), shown.shownEntry(voice)),
  '/api/presence': (voice) => form(JSON_TYPE, schema('Presence'), shown.shownPresence(voice)),
  '/api/discover': (voice) => form(JSON_TYPE, schema('Discovery'), shown.shownDiscovery(voice)),
  '/healthz': () => form(JSON_TYPE, schema('Health'), { status: 'breathing' }),
  '/readyz': () => form(JSON_TYPE, schema('Health'), { status: 'breathing' }),
  '/mova-snu.yaml': ({ language }) => form(YAML, {}, `name:\n  en: ${language.name.en}\n`),
  '/mova-snu.schema.json': () =>
    form('application/schema+json', OBJECT, {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
    }),
  '/openapi.json': () => form(JSON_TYPE, OBJECT, { openapi: '3.1.0' }),
  '/openapi.yaml': () => form(YAML, {}, 'openapi: 3.1.0\n'),
  '/.well-known/api-catalog': (voice) =>
    form('application/linkset+json', OBJECT, apiCatalog({ ...voice, address: shown.ADDRESS })),
  '/.well-known/ai-catalog.json': (voice) =>
    form(
      'application/ai-catalog+json',
      OBJECT,
      aiCatalog({ ...voice, address: shown.ADDRESS }, [{ path: '/skill.md', methods: ['GET'] }]),
    ),
  '/.well-known/agent-card.json': agentCard,
  '/.well-known/agent.json': (voice) =>
    form(JSON_TYPE, schema('AgentCard'), legacyCardOf({ ...voice, base: shown.ADDRESS })),
  '/mcp/server-card': serverCard,
  '/reference': ({ language, locale }) =>
    form('text/html', TEXT, `<!doctype html><title>${localize(language.service, locale)}</title>`),
  '/llms.txt': (voice) => form('text/plain', TEXT, titled(voice)),
  '/robots.txt': () => form('text/plain', TEXT, 'User-agent: *\nDisallow: /api/say\nAllow: /\n'),
  '/skill.md': (voice) => form(MARKDOWN, TEXT, titled(voice)),
  '/protocol.md': (voice) => form(MARKDOWN, TEXT, titled(voice)),
};

/** How a page in Markdown begins. */
function titled({ language, locale }: Voice): string {
  return `# ${localize(language.service, locale)}\n`;
}

/** The card of A2A 1.0, which is also what `GET` of its endpoints is answered. */
export function agentCard(voice: Voice): Form {
  return form(JSON_TYPE, schema('AgentCard'), cardOf({ ...voice, base: shown.ADDRESS }));
}

export function serverCard({ language, locale }: Voice): Form {
  return form('application/mcp-server-card+json', schema('McpServerCard'), {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json',
    name: `example.presence/${SERVER_NAME}`,
    version: language.version,
    title: localize(language.service, locale),
    description: localize(language.doors.mcp, locale),
    remotes: [
      {
        type: 'streamable-http',
        url: `${shown.ADDRESS}/mcp`,
        supportedProtocolVersions: REVISIONS,
      },
    ],
  });
}

export function contentOf({ type, schema: one, example }: Form): Json {
  return { [type]: { schema: one, example } };
}

/** Addresses of what has a door of its own elsewhere. */
const BY_ANOTHER_DOOR: Readonly<Record<string, string>> = {
  '/mcp/server-card': 'mcp',
  '/.well-known/agent.json': 'agentCard',
};

/** An operation that answers one document. */
export function documentAt(voice: Voice, path: string, answered: Form): Json {
  const content = contentOf(answered);
  const tagged = !['/api', '/healthz', '/readyz'].includes(path);
  const all = answers(voice, content, path.includes('{') ? [404] : [], tagged);
  const { language, locale } = voice;
  const failing = { 503: { description: localize(language.errors.unavailable, locale), content } };
  return operation(voice, path, {
    ...(BY_ANOTHER_DOOR[path] === undefined ? {} : { door: BY_ANOTHER_DOOR[path] }),
    parameters: queryParameters(voice, (name) => name === 'as'),
    responses: path === '/readyz' ? { ...all, ...failing } : all,
  });
}

/** `/`, in the form that is preferred. */
export function homeAt(voice: Voice): Json {
  const title = localize(voice.language.service, voice.locale);
  const content = {
    'application/json': { schema: schema('Status'), example: shown.shownStatus(voice) },
    'text/markdown': { schema: TEXT, example: titled(voice) },
    'text/plain': { schema: TEXT, example: `${title}\n${'='.repeat(title.length)}\n` },
    'text/html': { schema: TEXT, example: `<!doctype html><title>${title}</title>` },
  };
  return operation(voice, '/', { id: 'home', responses: answers(voice, content, [], false) });
}
