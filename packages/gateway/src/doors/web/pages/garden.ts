/** The page `/garden`: the picture of the garden, and its activity over time. */
import { localize } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';

import { abortOnDisconnect } from '../../../http/context.ts';
import { countActivity } from '../../../operations/activity.ts';
import type { DoorRequest } from '../../context.ts';
import { readGardenEntries } from '../entries/garden-entries.ts';
import { findSilences } from '../entries/silences.ts';
import type { PageContent } from '../page-route.ts';

const TITLE = { uk: 'Сад', en: 'The garden' };
const DESCRIPTION = {
  uk: 'Усе, що тут сказано, як живий сад: кожен слід — рослина, що виросла зі свого тексту.',
  en: 'All that was said here as a living garden: each trace is a plant grown from its own text.',
};

/** How many of the newest entries the page shows without scripts. */
const NEWEST = 24;
const SPANS = 48;

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const { app } = context;
  const { locale } = shell;
  using caller = abortOnDisconnect(context);
  const { signal } = caller;
  const newest = { facets: [], order: 'newest', limit: NEWEST, signal } as const;
  const entries = await readGardenEntries(app.log, newest);
  const activity = await countActivity(app, { by: 'kind', spans: SPANS, signal });
  return {
    data: {
      page: 'garden',
      shell,
      title: localize(TITLE, locale),
      description: localize(DESCRIPTION, locale),
      entries,
      activity,
      silences: await findSilences(app.log, signal),
    },
  };
}
