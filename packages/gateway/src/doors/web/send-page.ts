/**
 * Renders a page and sends it. The response cache, which is bounded, keeps the page. It is sent again only while
 * the log, the status and the page's own version are the same.
 */
import { hash } from 'node:crypto';

import { localize, SERVICE_LINK_HEADER } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';
import { renderPage } from '@open-presence/web/renderer';

import { isDisconnected, type RequestContext, type StartupContext } from '../../http/context.ts';
import { preferredEncoding } from '../../http/negotiation.ts';
import {
  COMMON_HEADERS,
  contentLanguage,
  NO_CACHE,
  NO_STORE,
  type Headers,
} from '../../http/response/headers.ts';
import { problemOf, RETRY_AFTER } from '../../http/response/problem.ts';
import { cachedResponseOf, sendCached } from '../../http/response/response-cache.ts';
import { sendResponse } from '../../http/response/response.ts';
import { readVersion } from '../../operations/read-version.ts';
import type { DoorRequest } from '../context.ts';
import type { PageContent, PageModule } from './page-route.ts';
import { shellOf } from './shell.ts';

const OWN_TEXTS = ['privacy', 'terms'] as const;

export const PAGE_TYPE = 'text/html; charset=utf-8';

/** In a mirror, what is said goes to the gateway that stores it. */
function policy(mirrorOf: string | undefined): string {
  const stores = mirrorOf === undefined ? "'self'" : `'self' ${new URL(mirrorOf).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${stores}`,
    "manifest-src 'self'",
    `form-action ${stores}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The one policy by which the script takes HTML, and only from the gateway.
    'trusted-types gateway',
  ].join('; ');
}

export async function sendPage(context: DoorRequest, page: PageModule): Promise<void> {
  const { app, request } = context;
  const head = app.log.head();
  const ownTexts = OWN_TEXTS.filter((name) => app.ownTexts.has(name));
  const cases = app.log.withheld();
  const shell = {
    ...shellOf(context),
    ownTexts,
    head,
    log: app.log.id,
    cases,
    mirrorOf: app.mirror?.origin,
  };
  const encoding = preferredEncoding(request.headers['accept-encoding']);
  const version = versionOf(context, shell, page);
  const key = `page ${encoding ?? ''} ${version} ${request.url ?? ''}`;
  const cached = app.responseCache.get(key, head);
  if (cached !== undefined) return sendCached(context, cached);
  const content = await contentOf(context, shell, page);
  if (isDisconnected(context)) return undefined;
  if (content.status !== undefined) return await sendUncached(context, content);
  const created = await app.responseCache.create(key, head, undefined, async () => {
    const { data, headers: own, options } = content;
    const plain = Buffer.from(renderPage(data, options));
    const tag = `W/"${version}"`;
    const headers = { ...pageHeaders(data.shell), ...own, ETag: tag };
    return await cachedResponseOf({ head, tag, type: PAGE_TYPE, plain, encoding, headers });
  });
  if (created !== undefined && !isDisconnected(context)) sendCached(context, created);
}

/** Sends a page that must not be stored: it has a status of its own. */
export async function sendUncached(
  context: RequestContext<StartupContext>,
  { data, status = 200, headers = {}, options }: PageContent,
): Promise<void> {
  await sendResponse(context, {
    status,
    type: PAGE_TYPE,
    headers: {
      ...pageHeaders(data.shell),
      ...NO_STORE,
      ...(status === 503 ? { 'Retry-After': RETRY_AFTER } : {}),
      ...headers,
    },
    body: Buffer.from(renderPage(data, options)),
  });
}

/** Changes with whatever the page shows, except for its URL. */
function versionOf(context: DoorRequest, shell: Shell, page: PageModule): string {
  const { log, languageHash, ownTextsHash } = context.app;
  const parts = [
    log.id,
    log.head(),
    readVersion(log),
    languageHash,
    ownTextsHash,
    shell.locale,
    shell.status,
    shell.address,
    page.versionOf?.(context) ?? '',
  ];
  return hash('sha256', parts.join(' '), 'base64url').slice(0, 16);
}

/** The content of the page, or of a page that reports what was thrown. */
async function contentOf(
  context: DoorRequest,
  shell: Shell,
  page: PageModule,
): Promise<PageContent> {
  try {
    return await page.createPage(context, shell);
  } catch (error) {
    const { code, message, status } = problemOf(context, error);
    const title = localize(context.app.language.errors[code], shell.locale);
    return { status, data: { page: 'error', shell, title, description: message, unlisted: true } };
  }
}

export function pageHeaders({ locale, mirrorOf }: Shell): Headers {
  return {
    ...COMMON_HEADERS,
    ...NO_CACHE,
    ...contentLanguage(locale, 'Accept'),
    ...SERVICE_LINK_HEADER,
    'Content-Security-Policy': policy(mirrorOf),
  };
}
