/** The page `/`: the house with all rooms. */
import {
  FEED_FORMS,
  FEED_TYPES,
  localize,
  type PresentDocument,
  SHORT_FEED_PATHS,
} from '@open-presence/protocol';
import type {
  HouseRoom,
  PageEntry,
  PageVisitor,
  RenderOptions,
  Shell,
} from '@open-presence/web/page-data';
import { leadOf } from '@open-presence/web/renderer';

import type { Log, Seq } from '../../../log/log.ts';
import { type Activity, countActivity } from '../../../operations/activity.ts';
import { roomDocuments } from '../../../operations/rooms.ts';
import { newestPresent } from '../../../operations/who-is-here.ts';
import type { RecentAuthor } from '../../../presence/recent-authors.ts';
import type { DoorContext, DoorRequest } from '../../context.ts';
import { FIRST_DOORS, firstContactByGet, firstContactRequest, linksTo } from '../../guide-parts.ts';
import { readGardenEntries } from '../entries/garden-entries.ts';
import { cutText, pageEntryOf } from '../entries/page-entry.ts';
import { plainText } from '../entries/text-blocks.ts';
import type { PageContent } from '../page-route.ts';

const MAX_VISITORS = 12;
const MAX_NEWEST = 8;
const MAX_PLANTS = 16;
/** More authors of the last hour are not counted. */
const MAX_COUNTED = 1000;
/** UTF-16 code units that are shown of an entry, and of a name. */
const MAX_BRIEF_LENGTH = 320;
const MAX_NAME_LENGTH = 200;
/** What visitors seek is shown by its first values. */
const MAX_SEEKING = 4;
/** Whoever wrote more than an hour ago is left out after this time, at the latest. */
const LATELY_STEP_MS = 5 * 60_000;

/** Changes with who is here, and where; and with time, for who wrote lately. */
export function versionOf({ app }: DoorRequest): string {
  return `${app.presence.version} ${Math.floor(app.log.now() / LATELY_STEP_MS)}`;
}

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const { app } = context;
  const { labels } = app.language;
  const { locale } = shell;
  const title = localize(labels.everything, locale);
  const head = app.log.head();
  const [here, { lately, wroteLately }, newest, plants, activity] = await Promise.all([
    newestPresent(app, { head, limit: MAX_VISITORS }),
    latelyOf(app),
    newestOf(app, head),
    readGardenEntries(app.log, { facets: [], order: 'newest', limit: MAX_PLANTS }),
    roomActivity(app),
  ]);
  const names = new Set(here.map(({ identity }) => identity));
  return {
    data: {
      page: 'house',
      shell,
      title: shell.service,
      description: leadOf(locale),
      feeds: FEED_FORMS.map((form) => {
        return { title, type: FEED_TYPES[form], href: SHORT_FEED_PATHS[form] };
      }),
      head,
      rooms: roomsOf(app, shell, activity),
      here: here.map(visitorOf),
      lately: lately.filter(({ identity }) => !names.has(identity)).map(authorOf),
      present: app.presence
        .countByRoom()
        .values()
        .reduce((sum, count) => sum + count, 0),
      wroteLately,
      newest,
      plants,
    },
    options: { guide: houseGuide(context, shell) },
  };
}

function roomsOf(
  app: DoorContext,
  { locale, rooms }: Shell,
  activityOf: (slug: string) => number[],
): HouseRoom[] {
  const visitors = app.presence.countByRoom();
  return roomDocuments(app, locale).map(({ slug, description, entries, latest }) => ({
    ...(rooms.find((room) => room.slug === slug) ?? { slug, title: slug }),
    description,
    entries,
    latest: latest ?? undefined,
    here: visitors.get(slug) ?? 0,
    activity: activityOf(slug),
  }));
}

function visitorOf({ identity, room, seeking, lastSeen }: PresentDocument): PageVisitor {
  return {
    identity: cutText(identity, MAX_NAME_LENGTH),
    room: room ?? undefined,
    seeking: seeking.slice(0, MAX_SEEKING).map((value) => cutText(value, MAX_NAME_LENGTH)),
    lastSeen,
  };
}

async function latelyOf({
  recentAuthors,
}: DoorContext): Promise<{ lately: RecentAuthor[]; wroteLately: number }> {
  const wanted = { rooms: [], signal: new AbortController().signal };
  const lately: RecentAuthor[] = [];
  let wroteLately = 0;
  for await (const author of recentAuthors.list(await recentAuthors.snapshot(), wanted)) {
    if (lately.length < MAX_VISITORS) lately.push(author);
    wroteLately += 1;
    if (wroteLately === MAX_COUNTED) break;
  }
  return { lately, wroteLately };
}

function authorOf({ identity, metadata: { room, time } }: RecentAuthor): PageVisitor {
  const lastSeen = new Date(time).toISOString();
  return { identity: cutText(identity, MAX_NAME_LENGTH), room, seeking: [], lastSeen };
}

async function newestOf({ log }: DoorContext, head: Seq): Promise<PageEntry[]> {
  const newest = { facets: [], order: 'newest', before: head + 1, limit: MAX_NEWEST } as const;
  return await Array.fromAsync(log.readEntries(newest), async (entry) => {
    const { members, blocks, ...shown } = await pageEntryOf(entry);
    return {
      ...shown,
      text: cutText(plainText(shown.text, blocks), MAX_BRIEF_LENGTH),
      members: members && cutText(members, MAX_BRIEF_LENGTH),
    };
  });
}

/** For AI systems and developers: the first requests, and where to read on. */
function houseGuide(
  { app }: DoorRequest,
  { locale, address }: Shell,
): NonNullable<RenderOptions['guide']> {
  const { language, routes } = app;
  const { invitation, pages, labels, kinds } = language;
  const text: (localized: (typeof pages)['first']) => string = (localized) =>
    localize(localized, locale);
  const context = { language, locale, text, address, routes };
  return {
    blocks: [
      { text: text(invitation) },
      { text: `${text(kinds.resonance.meaning)} ${text(pages.own)}` },
      { code: firstContactRequest(context) },
      { text: text(pages.byGetHow) },
      { code: firstContactByGet(context) },
      { links: linksTo(context, FIRST_DOORS) },
      { text: text(labels.trust) },
    ],
  };
}

const DAY_MS = 24 * 60 * 60_000;
const DAYS = 28;

type Counts = ReadonlyMap<string, number>;

interface Counted {
  /** The end of its last day. */
  readonly to: number;
  readonly totals: Counts;
  readonly activity: Promise<Activity>;
}

const countedByLog = new WeakMap<Log, Counted>();

/**
 * By room, the number of entries of each day, the oldest day first. Each thread counts in the log once a day:
 * past days do not change, and today's number follows from the room's total.
 */
async function roomActivity(app: DoorContext): Promise<(slug: string) => number[]> {
  const { log } = app;
  const to = Math.ceil((log.now() + 1) / DAY_MS) * DAY_MS;
  const totals = totalsOf(log);
  let counted = countedByLog.get(log);
  if (counted?.to !== to) {
    counted = { to, totals, activity: count(app, to) };
    countedByLog.set(log, counted);
  }
  const { counts } = await counted.activity;
  const earlier = counted.totals;
  return (slug) => {
    const since = (totals.get(slug) ?? 0) - (earlier.get(slug) ?? 0);
    const days = counts[slug] ?? [];
    return days.map((entries, day) => (day === days.length - 1 ? entries + since : entries));
  };
}

async function count(app: DoorContext, to: number): Promise<Activity> {
  try {
    return await countActivity(app, { by: 'room', from: to - DAYS * DAY_MS, to, spans: DAYS });
  } catch (error) {
    countedByLog.delete(app.log);
    throw error;
  }
}

function totalsOf(log: Log): Counts {
  const totals = new Map<string, number>();
  for (const { room, count } of log.roomCounts()) totals.set(room, (totals.get(room) ?? 0) + count);
  return totals;
}
