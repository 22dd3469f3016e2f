/** The page `/inbox`: what concerns the visitor that the address names by `to` (PROTOCOL.md section 22). */
import { EVERYTHING } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';
import { pageTexts } from '@open-presence/web/renderer';

import { queryOf } from '../../../http/parameters/query.ts';
import type { DoorRequest } from '../../context.ts';
import { readList } from '../entries/entry-list.ts';
import type { PageContent } from '../page-route.ts';
import { feedsOf } from './feeds.ts';

export async function createPage(
  { app, request }: DoorRequest,
  shell: Shell,
): Promise<PageContent> {
  const address = queryOf(request);
  const to = address.get('to') ?? '';
  const { title, description } = pageTexts('inbox', shell.locale);
  const filters = new URLSearchParams({ concerns: to });
  const list = { filters, order: 'newest', address } as const;
  return {
    data: {
      page: 'inbox',
      shell,
      title,
      description,
      ...(to === ''
        ? {}
        : {
            unlisted: true,
            list: await readList(app, list),
            feeds: feedsOf(EVERYTHING, title, filters),
          }),
    },
  };
}
