/** The page `/garden`: a picture of one window of the log, chosen by the address, and the activity over time. */
import { localize } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';
import { mainAuthors } from '@open-presence/web/renderer';

import { abortOnDisconnect } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { parseSelection } from '../../../intake/selection.ts';
import { countActivity } from '../../../operations/activity.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import type { DoorRequest } from '../../context.ts';
import { MAX_PLANTS, readGardenEntries } from '../entries/garden-entries.ts';
import type { PageContent } from '../page-route.ts';

const TITLE = { uk: 'Сад', en: 'The garden' };
const DESCRIPTION = {
  uk: 'Усе, що тут сказано, як живий сад: кожен слід — рослина, що виросла зі свого тексту.',
  en: 'All that was said here as a living garden: each trace is a plant grown from its own text.',
};

/** How many of the newest entries of the window the page shows without scripts. */
const LISTED = 24;
const SPANS = 48;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
/** How many months the page leads to: those around the one that it shows. */
const MAX_MONTHS = 6;

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const { app } = context;
  const { grammar, log } = app;
  const { locale } = shell;
  using caller = abortOnDisconnect(context);
  const { signal } = caller;
  const address = queryOf(context.request);
  const author = address.get('author') || undefined;
  const month = address.get('month')?.match(MONTH)?.[0];
  const window = new URLSearchParams({
    ...(author === undefined ? {} : { identity: author }),
    ...(month === undefined ? {} : { since: startOf(month, 0), until: startOf(month, 1) }),
  });
  const selection = await parseSelection(window, { ...everythingScope(), grammar, log });
  const newest = { ...selection, order: 'newest', limit: MAX_PLANTS, signal } as const;
  const plants = await readGardenEntries(log, newest);
  const {
    oldest,
    newest: latest,
    ...activity
  } = await countActivity(app, {
    by: 'kind',
    spans: SPANS,
    signal,
  });
  return {
    data: {
      page: 'garden',
      shell,
      title: localize(TITLE, locale),
      description: localize(DESCRIPTION, locale),
      unlisted: window.size > 0 ? true : undefined,
      entries: plants.slice(0, LISTED),
      authors: mainAuthors(plants),
      query: window.toString(),
      month,
      author,
      months: monthsBetween(oldest, latest, month),
      activity: latest === undefined ? undefined : activity,
    },
  };
}

/** The start of the month that is `after` months later; earlier if that is negative. */
function startOf(month: string, after: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + after)).toISOString();
}

/** The newest months, the newest first; or those around the chosen one. */
function monthsBetween(
  oldest: number | undefined,
  newest: number | undefined,
  chosen: string | undefined,
): string[] {
  if (oldest === undefined || newest === undefined) return [];
  const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);
  const last = monthOf(newest);
  const middle = chosen === undefined ? last : startOf(chosen, MAX_MONTHS / 2).slice(0, 7);
  const from = middle < last ? middle : last;
  const months = Array.from({ length: MAX_MONTHS }, (_, at) => startOf(from, -at).slice(0, 7));
  return months.filter((one) => one >= monthOf(oldest));
}
