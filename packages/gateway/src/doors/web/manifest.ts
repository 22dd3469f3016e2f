/** What browsers request beside pages: the manifest of an installable page, and the icon. */
import { iconPath, webManifest } from '@open-presence/web/renderer';

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

/** Browsers request `/favicon.ico` for what is no page, such as JSON. */
export async function sendIcon(context: DoorRequest): Promise<void> {
  await sendResponse(context, {
    status: 302,
    type: 'text/plain; charset=utf-8',
    headers: { Location: iconPath, ...NO_CACHE, ...vary() },
    body: Buffer.from(`${iconPath}\n`),
  });
}
