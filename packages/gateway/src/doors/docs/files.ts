/**
 * What is the same for every caller: the language file, its schema, robots.txt, and the OpenAPI document of the
 * REST interface, read in a thread when it is first requested.
 *
 * Invariant: Every example of the OpenAPI document works as it stands, and the document lists every
 *   path and parameter of the REST interface.
 * Test: `test/openapi/examples.test.ts` “is answered as it says, when it is sent as it stands or by
 *   mistake” “is what the gateway serves by REST, with the same parameters”
 */
import {
  ARD_PATH,
  contactUri,
  GatewayError,
  type Language,
  LOCALES,
} from '@open-presence/protocol';

import { publicAddressOf } from '../../http/public-address.ts';
import { contentHash, jsonBody, sendResponse } from '../../http/response/response.ts';
import { NO_CACHE, vary } from '../../http/response/headers.ts';
import { postedBy, threadModule } from '../../thread-module.ts';
import type { DoorContext, DoorHandler, DoorRequest } from '../context.ts';

export const SECURITY_TXT = '/.well-known/security.txt';

const HEADERS = { ...NO_CACHE, ...vary() };

export async function languageFile(context: DoorRequest): Promise<void> {
  const { languageFile, languageHash } = context.app;
  await send(context, 'application/yaml', languageFile, languageHash);
}

export async function languageSchema(context: DoorRequest): Promise<void> {
  // Rarely requested, and heavy to load.
  const { LanguageSchema } = await import('@open-presence/protocol/language-schema');
  const body = jsonBody(LanguageSchema);
  await send(context, 'application/schema+json', body, contentHash(body));
}

/** Fetchers that act for a person or an agent at its request, by the names they publish. */
const USER_FETCHERS = [
  'ChatGPT-User',
  'Claude-User',
  'Meta-ExternalFetcher',
  'MistralAI-User',
  'Perplexity-User',
];

/**
 * RFC 9309. Crawlers may read everything, but must not append entries by following links. A fetcher that
 * somebody sends may append them: some cannot POST.
 */
const ROBOTS: string = [
  ...USER_FETCHERS.map((name) => `User-agent: ${name}\n`),
  'Allow: /\n\nUser-agent: *\nDisallow: /api/say\nAllow: /\n',
].join('');

/** Its last line leads AI systems to what they can use here (ARD 0.91). */
export async function robots(context: DoorRequest): Promise<void> {
  const body = Buffer.from(`${ROBOTS}\nAgentmap: ${publicAddressOf(context)}${ARD_PATH}\n`);
  await send(context, 'text/plain; charset=utf-8', body, contentHash(body));
}

/** How far in the future the contact is valid: less than a year (RFC 9116 section 2.5.5). */
const CONTACT_VALIDITY_MS = 180 * 24 * 60 * 60 * 1000;

/**
 * RFC 9116. `Expires` is computed for each request, for a whole day. Throws `not-found` if the operator gives no
 * contact.
 */
export async function securityTxt(context: DoorRequest): Promise<void> {
  const { language, publicUrl } = context.app;
  const contact = contactUri(language.contact);
  if (contact === undefined) {
    const detail = `Cannot read "${SECURITY_TXT}": the operator of this gateway has given no contact.`;
    throw new GatewayError('not-found', detail);
  }
  const expires = new Date(Date.now() + CONTACT_VALIDITY_MS).toISOString().slice(0, 10);
  const text = [
    `Contact: ${contact}`,
    `Expires: ${expires}T00:00:00Z`,
    `Preferred-Languages: ${LOCALES.join(', ')}`,
    ...(publicUrl === undefined ? [] : [`Canonical: ${publicUrl}${SECURITY_TXT}`]),
  ];
  const body = Buffer.from(text.map((line) => `${line}\n`).join(''));
  await send(context, 'text/plain; charset=utf-8', body, contentHash(body));
}

/** Sends a document that every caller gets alike. */
async function send(
  context: DoorRequest,
  type: string,
  body: Uint8Array,
  tag: string,
): Promise<void> {
  await sendResponse(context, { status: 200, type, headers: HEADERS, body, tag: `"${tag}"` });
}

/** What the operator of a gateway decides of the document. */
export interface OperatorChoices {
  readonly language: Language;
  readonly publicUrl: string | undefined;
}

/** The document in both forms. */
export interface OpenApi {
  readonly json: Uint8Array;
  readonly yaml: Uint8Array;
}

const documents = new WeakMap<DoorContext, Promise<OpenApi>>();

export function openApi(form: keyof OpenApi): DoorHandler {
  return async (context) => {
    const body = (await documentOf(context.app))[form];
    await send(context, `application/${form}`, body, contentHash(body));
  };
}

async function documentOf(app: DoorContext): Promise<OpenApi> {
  const document = documents.get(app) ?? loadDocument(app);
  documents.set(app, document);
  try {
    return await document;
  } catch (error) {
    documents.delete(app);
    throw error;
  }
}

async function loadDocument({ language, publicUrl }: DoorContext): Promise<OpenApi> {
  const choices: OperatorChoices = { language, publicUrl };
  const module = threadModule('./openapi-thread', import.meta.url);
  return (await postedBy(module, choices)) as OpenApi;
}
