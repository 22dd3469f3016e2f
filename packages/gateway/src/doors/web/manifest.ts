/** What browsers request beside pages: the manifest of an installable page, its service worker, and the icon. */
import { iconPath, serviceWorker, webManifest } from '@open-presence/web/renderer';

import { contentLanguage, NO_CACHE, vary } from '../../http/response/headers.ts';
import { contentHash, jsonBody, sendResponse } from '../../http/response/response.ts';
import type { DoorRequest } from '../context.ts';
import { shellOf } from './shell.ts';

export async function sendManifest(context: DoorRequest): Promise<void> {
  const { service, locale } = shellOf(context);
  const body = jsonBody(webManifest(service, locale));
  await sendResponse(context, {
    status: 200,
    type: 'application/manifest+json',
    headers: { ...NO_CACHE, ...contentLanguage(locale) },
    body,
    tag: `"${contentHash(body)}"`,
  });
}

/** Another text, which browsers take, after a change of what it stores. */
export async function sendServiceWorker(context: DoorRequest): Promise<void> {
  const body = Buffer.from(`// ${context.app.languageHash}\n${serviceWorker}`);
  await sendResponse(context, {
    status: 200,
    type: 'text/javascript; charset=utf-8',
    headers: {
      ...NO_CACHE,
      ...vary(),
      'Content-Security-Policy': "default-src 'none'; connect-src 'self'",
      'Service-Worker-Allowed': '/',
    },
    body,
    tag: `"${contentHash(body)}"`,
  });
}

/** Browsers request `/favicon.ico` for what is no page, such as JSON. */
export async function sendIcon(context: DoorRequest): Promise<void> {
  await sendResponse(context, {
    status: 302,
    type: 'text/plain; charset=utf-8',
    headers: { Location: iconPath, ...NO_CACHE, ...vary() },
    body: Buffer.from(`${iconPath}\n`),
  });
}
