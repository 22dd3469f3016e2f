/** The page `/garden`: the picture of the garden, and its activity over time. */
import { localize } from '@open-presence/protocol';
import type { Shell, TimeRange } from '@open-presence/web/page-data';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { abortOnDisconnect } from '../../../http/context.ts';
import type { Log, Seq } from '../../../log/log.ts';
import { countActivity } from '../../../operations/activity.ts';
import type { DoorRequest } from '../../context.ts';
import { readGardenEntries } from '../entries/garden-entries.ts';
import type { PageContent } from '../page-route.ts';

const TITLE = { uk: 'Сад', en: 'The garden' };
const DESCRIPTION = {
  uk: 'Усе, що тут сказано, як живий сад: кожен слід — рослина, що виросла зі свого тексту.',
  en: 'All that was said here as a living garden: each trace is a plant grown from its own text.',
};

/** The script reads them. */
export const parameters = ['from', 'to', 'author', 'plant'];

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

/** The number of steps in which a range is looked through. A silence that is shorter than a step is not found. */
const STEPS = 64;
/** How many ranges are looked through: all time, and what lies between silences. */
const MAX_RANGES = 3;

/** Between the seqs of two entries, with their times. */
interface Stretch {
  readonly first: Seq;
  readonly last: Seq;
  readonly from: number;
  readonly to: number;
}

/**
 * The longest times in which nothing was stored, in no particular order. Their ends are the times of entries.
 */
async function findSilences(log: Log, signal: AbortSignal): Promise<TimeRange[]> {
  const takeTurn = yieldPeriodically();
  const timeOf = async (seq: Seq): Promise<number> => (await log.entry(seq))?.metadata.time ?? NaN;
  const silences: TimeRange[] = [];
  const head = log.head();
  const waiting: Stretch[] =
    head < 2 ? [] : [{ first: 1, last: head, from: await timeOf(1), to: await timeOf(head) }];
  for (let count = 0; count < MAX_RANGES; count += 1) {
    const [stretch] = waiting.splice(longestIn(waiting), 1);
    if (stretch === undefined) break;
    const step = (stretch.to - stretch.from) / STEPS;
    let { first, from } = stretch;
    let previous = first;
    for (let index = 1; index <= STEPS; index += 1) {
      signal.throwIfAborted();
      await takeTurn();
      const next =
        index === STEPS ? stretch.last : log.firstSince(Math.ceil(stretch.from + index * step));
      const isSilent = next === previous && next > first && index < STEPS;
      previous = next;
      if (!isSilent) continue;
      const silence = { from: await timeOf(next - 1), to: await timeOf(next) };
      // An entry that cannot be read has no time.
      if (Number.isNaN(silence.to - silence.from)) continue;
      silences.push(silence);
      if (silence.from > from) waiting.push({ first, last: next - 1, from, to: silence.from });
      first = next;
      from = silence.to;
    }
    if (first > stretch.first) waiting.push({ first, last: stretch.last, from, to: stretch.to });
  }
  return silences;
}

function longestIn(stretches: readonly Stretch[]): number {
  const lengths = stretches.map(({ from, to }) => to - from);
  return lengths.indexOf(Math.max(...lengths));
}
