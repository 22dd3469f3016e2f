/** The page `/speak`: how programs and agents take part, with requests that work at this address. */
import {
  JSON_RPC_PATH,
  KINDS,
  type Language,
  localize,
  type LocalizedText,
  pagePath,
  sayPath,
} from '@open-presence/protocol';
import type {
  CodeExample,
  Endpoint,
  NamedLink,
  RequestExample,
  Shell,
  SpeakPage,
} from '@open-presence/web/page-data';

import {
  type DescribedRoute,
  type JsonObject,
  type Localization,
  pathsById,
} from '../../../http/route-description.ts';
import { describePaths } from '../../../operations/describe-gateway.ts';
import type { DoorRequest } from '../../context.ts';
import type { PageContent } from '../page-route.ts';
import { curl, requestExamples, shellWord, streamExamples } from './code-examples.ts';

const READ_LIMIT = 20;

interface SpeakContext extends Localization {
  readonly address: string;
  readonly paths: ReadonlyMap<string, string>;
}

export function createPage({ app }: DoorRequest, shell: Shell): PageContent {
  const { language, routes } = app;
  const { locale, address } = shell;
  const text: Localization['text'] = (localized) => localize(localized, locale);
  const localization = { language, locale, text };
  const context = { ...localization, address, paths: pathsById(routes) };
  const data: SpeakPage = {
    page: 'speak',
    shell,
    title: text(language.labels.doors),
    description: text(language.pages.skill),
    own: text(language.pages.own),
    trust: text(language.labels.trust),
    retry: text(language.pages.saidHow),
    http: httpExamples(context),
    mcp: mcpExamples(context),
    a2a: a2aExamples(context),
    endpoints: endpointsOf(context, routes),
  };
  return { data };
}

function httpExamples({ language, text, address, paths }: SpeakContext): RequestExample[] {
  const { kinds, doors, pages } = language;
  const entries = `${address}${paths.get('entries') ?? ''}?limit=${READ_LIMIT}`;
  const byGet = address + sayPath('garden', kinds.garden.sentences[0]?.body);
  return [
    ...KINDS.map((kind) => {
      const { title, meaning, path, sentences } = kinds[kind];
      const request = { url: address + path, body: sentences[0]?.body ?? {} };
      return { title: text(title), meaning: text(meaning), codes: requestExamples(request) };
    }),
    {
      title: text(pages.reading),
      meaning: text(pages.readingHow),
      codes: requestExamples({ url: entries }),
    },
    {
      title: text(language.skills.follow.title),
      meaning: text(doors.events),
      codes: streamExamples(address + (paths.get('events') ?? '')),
    },
    {
      title: text(pages.byGet),
      meaning: text(pages.byGetHow),
      codes: requestExamples({ url: byGet }),
    },
  ];
}

function mcpExamples(context: SpeakContext): SpeakPage['mcp'] {
  const { language, text, address, paths } = context;
  const url = address + (paths.get('mcp') ?? '');
  return {
    url,
    meaning: text(language.mcp.instructions),
    install: installLinks(url),
    commands: installCommands(url),
    calls: mcpMessages(language).map((message) => codeOf(context, url, message)),
  };
}

function a2aExamples(context: SpeakContext): SpeakPage['a2a'] {
  const { language, text, address, paths } = context;
  const url = address + JSON_RPC_PATH;
  return {
    card: address + (paths.get('agentCard') ?? ''),
    url,
    meaning: text(language.labels.plainText),
    calls: a2aMessages(language).map((message) => codeOf(context, url, message)),
  };
}

function codeOf(
  { text }: SpeakContext,
  url: string,
  { method, summary, params }: MessageExample,
): CodeExample {
  const code = curl({ url, body: { jsonrpc: '2.0', id: 1, method, params } });
  return { name: `${method}: ${text(summary)}`, language: 'shell', code };
}

/** The paths of the kinds, the home, then the paths that the language file describes, in its order. */
function endpointsOf(context: SpeakContext, routes: DoorRequest['app']['routes']): Endpoint[] {
  const { language, locale, text, paths, address } = context;
  const endpoint = (
    path: string,
    meaning: string,
    { methods, description: { parameters = [] } }: DescribedRoute,
    body?: JsonObject,
  ): Endpoint => {
    const limit = parameters.includes('limit') ? `limit=${READ_LIMIT}` : '';
    const query = limit === '' ? '' : (path.includes('?') ? '&' : '?') + limit;
    const url = address + withExamples(path, language);
    const commands = methods.map((method) =>
      curl(method === 'GET' ? { url: url + query } : { url, body }),
    );
    const isRest = path === '/' || path.startsWith('/api');
    return { methods, path, href: hrefTo(path), meaning, commands: isRest ? commands : [] };
  };
  const ofKinds = KINDS.flatMap((kind) => {
    const { path, meaning, sentences } = language.kinds[kind];
    const route = routes.find((one) => one.path === path);
    return route === undefined ? [] : [endpoint(path, text(meaning), route, sentences[0]?.body)];
  });
  const described = describePaths(language, locale, paths).flatMap(({ name, path, meaning }) => {
    const route = routes.find(({ description }) => description.id === name);
    if (route === undefined) return [];
    const given = endpoint(path, meaning, route);
    return name === 'status' ? [endpoint('/', meaning, route), given] : [given];
  });
  return [...ofKinds, ...described];
}

/** A path with its variable parts replaced by values that the gateway knows, apart from the id of an entry. */
function withExamples(path: string, { kinds, rooms }: Language): string {
  const values: Readonly<Record<string, unknown>> = {
    id: 'ID',
    identity: kinds.garden.sentences[0]?.body['identity'] ?? 'NAME',
    kind: 'garden',
    q: 'garden',
    slug: rooms[0]?.slug,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name])),
  );
}

/** Not to the page to which the path leads browsers. */
function hrefTo(path: string): string | undefined {
  if (path.includes('{')) return undefined;
  return pagePath(path) === undefined ? path : `${path}?format=json`;
}

/**
 * How MCP clients are told of the gateway: by links that they have registered, by commands, or by a file. Each
 * is as the client's own documentation gives it.
 */
const NAME = 'open-presence';

function installLinks(url: string): NamedLink[] {
  const vsCode = encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', url }));
  const config = encodeURIComponent(Buffer.from(JSON.stringify({ url })).toString('base64'));
  const query = `name=${NAME}&config=${config}`;
  return [
    { name: 'VS Code', href: `vscode:mcp/install?${vsCode}` },
    { name: 'Cursor', href: `cursor://anysphere.cursor-deeplink/mcp/install?${query}` },
    { name: 'LM Studio', href: `lmstudio://add_mcp?${query}` },
  ];
}

function installCommands(url: string): CodeExample[] {
  const address = shellWord(url);
  const servers = { mcpServers: { [NAME]: { type: 'http', url } } };
  return [
    {
      name: 'Claude Code',
      language: 'shell',
      code: `claude mcp add --transport http ${NAME} ${address}`,
    },
    { name: 'Codex', language: 'shell', code: `codex mcp add ${NAME} --url ${address}` },
    {
      name: 'Gemini CLI',
      language: 'shell',
      code: `gemini mcp add --transport http ${NAME} ${address}`,
    },
    { name: 'mcp.json', language: 'json', code: JSON.stringify(servers, null, 2) },
  ];
}

interface MessageExample {
  readonly method: string;
  readonly summary: LocalizedText;
  readonly params: JsonObject;
}

/** A client of MCP begins with `initialize` by itself. */
function mcpMessages({ mcp, kinds, labels }: Language): MessageExample[] {
  const call = (summary: LocalizedText, name: string, given: unknown): MessageExample => {
    return { summary, method: 'tools/call', params: { name, arguments: given } };
  };
  return [
    { summary: labels.kinds, method: 'tools/list', params: {} },
    call(kinds.resonance.title, 'first_contact', kinds.resonance.sentences[0]?.body),
    call(kinds.garden.title, 'leave_trace', kinds.garden.sentences[0]?.body),
    call(mcp.tools.read.title, 'read', { kind: 'garden', limit: 10 }),
    call(mcp.tools.search.title, 'search', { q: 'garden' }),
  ];
}

function a2aMessages({ kinds, skills }: Language): MessageExample[] {
  const { text, ...metadata } = kinds.garden.sentences[0]?.body ?? {};
  const send = (
    summary: LocalizedText,
    part: JsonObject,
    more: JsonObject = {},
    method = 'SendMessage',
  ): MessageExample => {
    const message = { messageId: '1', role: 'ROLE_USER', parts: [part], ...more };
    return { summary, method, params: { message } };
  };
  const follow = { data: { skill: 'follow', after: 0, limit: 1 } };
  return [
    send(kinds.garden.title, { text }, { metadata }),
    send(kinds.resonance.title, { data: kinds.resonance.sentences[0]?.body }),
    send(skills.read.title, { data: { skill: 'read', limit: 10 } }),
    send(skills.follow.title, follow, {}, 'SendStreamingMessage'),
    { summary: skills.follow.title, method: 'GetTask', params: { id: FIRST_ENTRY } },
  ];
}

/** Follows the first entry of all, at any gateway: the id of a task has all of its parameters. */
const FIRST_ENTRY = `follow-${Buffer.from('after=0&limit=1').toString('base64url')}`;
