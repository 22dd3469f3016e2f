/** The page `/speak`: how programs and agents take part, with requests that work at this address. */
import { JSON_RPC_PATH, KINDS, localize, pagePath, sayPath } from '@open-presence/protocol';
import type {
  CodeExample,
  Endpoint,
  RequestExample,
  Shell,
  SpeakPage,
} from '@open-presence/web/page-data';

import { pathsById, type Localization } from '../../../http/route-description.ts';
import { describePaths } from '../../../operations/describe-gateway.ts';
import type { DoorRequest } from '../../context.ts';
import { curl, requestExamples, streamExamples } from './code-examples.ts';
import { installCommands, installLinks } from './mcp-clients.ts';
import { a2aMessages, mcpMessages, type MessageExample } from './message-examples.ts';
import type { PageContent } from '../page-route.ts';

const READ_LIMIT = 20;

/** What the parts of the page are made of. */
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
    calls: mcpMessages(language).map((example) => codeOf(context, url, example)),
  };
}

function a2aExamples(context: SpeakContext): SpeakPage['a2a'] {
  const { language, text, address, paths } = context;
  const url = address + JSON_RPC_PATH;
  return {
    card: address + (paths.get('agentCard') ?? ''),
    url,
    meaning: text(language.labels.plainText),
    calls: a2aMessages(language).map((example) => codeOf(context, url, example)),
  };
}

function codeOf({ text }: SpeakContext, url: string, example: MessageExample): CodeExample {
  const { method, summary, message } = example;
  const code = curl({ url, body: message });
  return { name: `${method}: ${text(summary)}`, language: 'shell', code };
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
