/**
 * Pages that only have texts: `/privacy` and `/terms`, which the operator has written.
 */
import { GatewayError } from '@open-presence/protocol';
import type { OwnText, Shell } from '@open-presence/web/page-data';
import { pageTexts } from '@open-presence/web/renderer';

import type { DoorRequest } from '../../context.ts';
import { markdownBlocks } from '../entries/text-blocks.ts';
import type { PageContent, PageModule } from '../page-route.ts';

export function ownTextPage(name: OwnText): PageModule {
  return {
    createPage({ app }: DoorRequest, shell: Shell): PageContent {
      const text = app.ownTexts.get(name);
      if (text === undefined) {
        const detail = `The operator of this gateway has written no text for /${name}.`;
        throw new GatewayError('not-found', detail);
      }
      const texts = pageTexts(name, shell.locale);
      return { data: { page: 'text', shell, ...texts, blocks: markdownBlocks(text) } };
    },
  };
}
