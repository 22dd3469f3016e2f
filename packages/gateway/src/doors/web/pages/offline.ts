/** The page that the service worker shows while the gateway cannot be reached. */
import type { Shell } from '@open-presence/web/page-data';
import { pageTexts } from '@open-presence/web/renderer';

import type { DoorRequest } from '../../context.ts';
import type { PageContent } from '../page-route.ts';

export function createPage(_: DoorRequest, shell: Shell): PageContent {
  const texts = pageTexts('offline', shell.locale);
  return { data: { page: 'offline', shell, ...texts, unlisted: true } };
}
