/**
 * The pages on which the gateway describes itself, written when they are first asked for. Loaded
 * then, too: what describes it is heavier than what it needs to serve.
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { stringify } from 'yaml';

import type { DoorContext } from '../context.ts';
import { asHtml, asMarkdown, asText, STYLE } from './blocks.ts';
import { aiCatalog, apiCatalog } from './catalogs.ts';
import type { Json } from './components.ts';
import { frontMatter, guidePage, welcomePage, type Asked } from './guide.ts';
import { openApiOf } from './openapi.ts';
import type { RouteSummary } from '../../http/context.ts';
import { referencePage } from './reference.ts';

export interface Written {
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is asked for, of which app, and with which paths. */
export interface Question extends Asked {
  readonly app: DoorContext;
  readonly routes: readonly RouteSummary[];
}

const HTML = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};
const MARKDOWN = 'text/markdown; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

/** Where the contract is: in an installed package beside it, in this repository at its root. */
const PROTOCOL = ['../PROTOCOL.md', '../../../PROTOCOL.md'].map((path) => {
  return new URL(path, import.meta.resolve('@open-presence/protocol'));
});

/** By app and locale: each is written once. */
const documents = new WeakMap<DoorContext, Map<string, OpenApi>>();

interface OpenApi {
  readonly document: Json;
  readonly json: Buffer;
  yaml?: Buffer;
  page?: Buffer;
}

function openApi(question: Question): OpenApi {
  const { app, locale = 'shown', routes } = question;
  const written = documents.get(app) ?? new Map<string, OpenApi>();
  documents.set(app, written);
  const known = written.get(locale);
  if (known !== undefined) return known;
  const document = openApiOf(question, routes, app.publicUrl);
  const made = { document, json: Buffer.from(`${JSON.stringify(document)}\n`) };
  written.set(locale, made);
  return made;
}

export const PAGES = {
  openapi: (question) => ({ type: 'application/json', body: openApi(question).json }),
  openapiYaml: (question) => {
    const made = openApi(question);
    made.yaml ??= Buffer.from(stringify(made.document, { aliasDuplicateObjects: false }));
    return { type: 'application/yaml', body: made.yaml };
  },
  reference: (question) => {
    const made = openApi(question);
    made.page ??= Buffer.from(referencePage(question, made.document));
    return { type: HTML_TYPE, body: made.page, headers: HTML };
  },
  llms: (question) => page(PLAIN, asMarkdown(guidePage(question))),
  skill: (question) => page(MARKDOWN, frontMatter(question) + asMarkdown(guidePage(question))),
  protocol: async () => ({ type: MARKDOWN, body: await protocolText() }),
  apiCatalog: (question) => {
    const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
    const link = `<${question.address}/.well-known/api-catalog>; rel="api-catalog"`;
    return { ...page(type, json(apiCatalog(question))), headers: { Link: link } };
  },
  aiCatalog: (question) =>
    page('application/ai-catalog+json', json(aiCatalog(question, question.routes))),
  'text/markdown': (question) => page(MARKDOWN, asMarkdown(welcomePage(question))),
  'text/plain': (question) => page(PLAIN, asText(welcomePage(question))),
  'text/html': (question) => {
    return { ...page(HTML_TYPE, asHtml(welcomePage(question))), headers: HTML };
  },
} as const satisfies Record<string, (question: Question) => Written | Promise<Written>>;

function page(type: string, text: string): Written {
  return { type, body: Buffer.from(text) };
}

function json(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function protocolText(): Promise<Buffer> {
  const [packed, source] = PROTOCOL;
  if (packed === undefined || source === undefined) throw new Error('PROTOCOL.md has no place');
  return await readFile(packed).catch(() => readFile(source));
}
