/** The reference page (PROTOCOL.md section 17.2), which Scalar draws from the OpenAPI document. */
import { SERVICE_LINK_HEADER } from '@open-presence/protocol';
import { renderReference } from '@open-presence/web/renderer';

import { contentLanguage, NO_CACHE } from '../../http/response/headers.ts';
import { contentHash, sendResponse } from '../../http/response/response.ts';
import { pathsById } from '../../http/route-description.ts';
import { localizationFor, type DoorRequest } from '../context.ts';
import { PAGE_TYPE } from './send-page.ts';

/** Scalar sets styles while it runs, so no hash or nonce could allow them. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FURTHER_READING = ['protocol', 'openapi', 'llms'] as const;

export async function sendReference(context: DoorRequest): Promise<void> {
  const { language, locale, text } = localizationFor(context);
  const { routes } = context.app;
  const paths = pathsById(routes);
  const [path = ''] = (context.request.url ?? '').split('?', 1);
  const html = renderReference({
    locale: locale ?? 'en',
    title: text(language.service),
    withoutScripts: text(language.pages.withoutScripts),
    furtherReading: FURTHER_READING.map((name) => ({
      path: paths.get(name) ?? '',
      text: text(language.doors[name]),
    })),
    root: path.endsWith('/') ? '..' : '.',
  });
  const body = Buffer.from(html);
  await sendResponse(context, {
    status: 200,
    type: PAGE_TYPE,
    headers: {
      ...NO_CACHE,
      ...contentLanguage(locale),
      ...SERVICE_LINK_HEADER,
      'Content-Security-Policy': POLICY,
    },
    body,
    tag: `"${contentHash(body)}"`,
  });
}
