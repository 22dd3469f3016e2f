/**
 * The page `/speak`: how programs and agents take part, with requests that work at this address. Its
 * paths and bodies are those that the routes and the doors describe.
 */
import { JSON_RPC_PATH, KINDS, localize, pagePath, sayPath } from '@open-presence/protocol';
import type {
  CodeExample,
  Endpoint,
  RequestExample,
  Shell,
  SpeakPage,
} from '@open-presence/web/page-data';

import {
  pathsById,
  type JsonObject,
  type Localization,
  type OperationDetails,
} from '../../../http/route-description.ts';
import { toJsonObject } from '../../../json/json-object.ts';
import { describePaths } from '../../../operations/describe-gateway.ts';
import type { DoorRequest } from '../../context.ts';
import { curl, requestExamples, streamExamples } from './code-examples.ts';
import { installCommands, installLinks } from './mcp-clients.ts';
import type { PageContent } from '../page-route.ts';

const READ_LIMIT = 20;
/** What the page shows of the examples of the doors: a client of MCP begins with the others by itself. */
const MCP_EXAMPLES = ['tools', 'firstContact', 'leaveTrace', 'read', 'search'];

/** What the parts of the page are made of. */
interface SpeakContext extends Localization {
  readonly address: string;
  readonly paths: ReadonlyMap<string, string>;
  readonly operations: Readonly<Record<string, OperationDetails>>;
}

export async function createPage({ app }: DoorRequest, shell: Shell): Promise<PageContent> {
  const { language, routes } = app;
  const { locale, address } = shell;
  const text: Localization['text'] = (localized) => localize(localized, locale);
  const localization = { language, locale, text };
  const doors = await app.describeDoors();
  const operations = Object.fromEntries(
    doors.flatMap((door) => Object.entries(door.operations?.(localization) ?? {})),
  );
  const context = { ...localization, address, paths: pathsById(routes), operations };
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
  const path = paths.get('mcp') ?? '';
  const url = address + path;
  const described = describedRequests(context, path);
  return {
    url,
    meaning: text(language.mcp.instructions),
    install: installLinks(url),
    commands: installCommands(url),
    calls: described.filter(({ name }) => MCP_EXAMPLES.includes(name)).map(({ code }) => code),
  };
}

function a2aExamples(context: SpeakContext): SpeakPage['a2a'] {
  const { language, text, address, paths } = context;
  return {
    card: address + (paths.get('agentCard') ?? ''),
    url: address + JSON_RPC_PATH,
    meaning: text(language.labels.plainText),
    calls: describedRequests(context, JSON_RPC_PATH).map(({ code }) => code),
  };
}

/** The requests to `POST` by which the path is described, each with its name. */
function describedRequests(
  { address, operations }: SpeakContext,
  path: string,
): { readonly name: string; readonly code: CodeExample }[] {
  const { requestBody = {} } = operations[`POST ${path}`] ?? {};
  const examples = memberOf(
    memberOf(memberOf(requestBody, 'content'), 'application/json'),
    'examples',
  );
  return Object.keys(examples).map((name) => {
    const { summary, value } = memberOf(examples, name);
    const code = curl({ url: address + path, body: toJsonObject(value) });
    return { name, code: { name: String(summary), language: 'shell', code } };
  });
}

function memberOf(object: JsonObject, name: string): JsonObject {
  return toJsonObject(object[name]);
}

/** The paths of the kinds, then those that the language file describes, in its order. */
function endpointsOf(
  { language, locale, text, paths }: SpeakContext,
  routes: DoorRequest['app']['routes'],
): Endpoint[] {
  const methodsById = new Map(routes.map(({ methods, description }) => [description.id, methods]));
  const ofKinds = KINDS.map((kind): Endpoint => {
    const { path, meaning } = language.kinds[kind];
    const { methods = [] } = routes.find((route) => route.path === path) ?? {};
    return { methods, path, ...hrefTo(path), meaning: text(meaning) };
  });
  const described = describePaths(language, locale, paths).map(({ name, path, meaning }) => {
    return { methods: methodsById.get(name) ?? [], path, ...hrefTo(path), meaning };
  });
  return [...ofKinds, ...described];
}

/** Not to the page to which the path leads browsers. */
function hrefTo(path: string): { readonly href?: string } {
  if (path.includes('{')) return {};
  return { href: pagePath(path) === undefined ? path : `${path}?format=json` };
}
