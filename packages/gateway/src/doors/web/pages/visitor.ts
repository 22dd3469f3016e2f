/**
 * The page of a name: what is said under it, what concerns it, and the conversations that it takes part in.
 * The address has the name in its path or as `name`.
 */
import { EVERYTHING, GatewayError, quoted, visitorPagePath } from '@open-presence/protocol';
import type { Conversation, Shell, VisitorPage } from '@open-presence/web/page-data';
import { visibleName, visitorTexts } from '@open-presence/web/renderer';

import { queryOf } from '../../../http/parameters/query.ts';
import { invalidParameter, parameterError } from '../../../intake/parameter-faults.ts';
import { parseCursor } from '../../../intake/selection.ts';
import { facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import { threadFacet } from '../../../log/thread.ts';
import { titleExcerpt } from '../../../operations/listing-scope.ts';
import type { DoorContext, DoorRequest } from '../../context.ts';
import { readList } from '../entries/entry-list.ts';
import { readGardenEntries } from '../entries/garden-entries.ts';
import { cutText, pageEntryOf } from '../entries/page-entry.ts';
import type { PageContent } from '../page-route.ts';
import { feedsOf } from './feeds.ts';

/** UTF-16 code units of a name that a page shows. */
const MAX_NAME_LENGTH = 200;
const MAX_SEEKING = 8;
const MAX_PLANTS = 24;
/** How many entries the conversations of one page are looked for in. */
const MAX_ENTRIES = 100;

export async function createPage(context: DoorRequest, shell: Shell): Promise<PageContent> {
  const { app } = context;
  const { log } = app;
  const head = log.head();
  const address = queryOf(context.request);
  const name = nameIn(context, address);
  const show = shownPart(address.get('show'));
  const texts = visitorTexts(titleExcerpt(visibleName(name)), shell.locale);
  const filters = new URLSearchParams({ [show === 'concerns' ? 'concerns' : 'identity']: name });
  const own = { facets: [facet('identity', name)] };
  const [first] = await readGardenEntries(log, { ...own, order: 'oldest', limit: 1 });
  const plants = await readGardenEntries(log, { ...own, order: 'newest', limit: MAX_PLANTS });
  const seeking = await app.recentAuthors.seeking.read(name, head);
  const isPlain = [...address.keys()].every((key) => key === 'lang' || key === 'name');
  return {
    data: {
      page: 'visitor',
      shell,
      ...texts,
      feeds: feedsOf(EVERYTHING, texts.title, filters),
      unlisted: isPlain && first !== undefined ? undefined : true,
      name: cutText(name, MAX_NAME_LENGTH),
      path: visitorPagePath(name),
      show,
      since: first && new Date(first.time).toISOString(),
      seeking: seeking.slice(0, MAX_SEEKING).map((value) => cutText(value, MAX_NAME_LENGTH)),
      plants,
      ...(show === 'conversations'
        ? await conversationsOf(app, name, address)
        : { list: await readList(app, { filters, order: 'newest', address }) }),
    },
  };
}

/** The name that the address of the page has. Throws `not-found`. */
function nameIn({ params }: DoorRequest, address: URLSearchParams): string {
  const name = params['name'] ?? address.get('name');
  if (name !== null) return name;
  const detail = 'Cannot show a visitor: the address names none. It is /visitors/NAME.';
  throw new GatewayError('not-found', detail);
}

function shownPart(text: string | null): VisitorPage['show'] {
  if (text === null || text === '' || text === 'said') return 'said';
  if (text === 'concerns' || text === 'conversations') return text;
  const detail = `"show" must be said, concerns or conversations, got ${quoted(text)}`;
  throw parameterError([invalidParameter('show', detail)], 'the name');
}

/** The conversations that the newest entries under the name belong to, the newest first. */
async function conversationsOf(
  { log }: Pick<DoorContext, 'log'>,
  name: string,
  address: URLSearchParams,
): Promise<Pick<VisitorPage, 'conversations' | 'next'>> {
  const given = address.get('before') ?? '';
  const before = given === '' ? NaN : parseCursor(given, 'the conversations', 'before');
  const roots = new Set<Seq>();
  let last: Seq | undefined;
  let count = 0;
  const own = { facets: [facet('identity', name)], order: 'newest', limit: MAX_ENTRIES } as const;
  const from = Number.isSafeInteger(before) ? { before } : {};
  for await (const { thread, metadata } of log.readEntries({ ...own, ...from })) {
    roots.add(thread);
    last = metadata.seq;
    count += 1;
  }
  const conversations: Conversation[] = [];
  for (const root of roots) {
    const stored = await log.entry(root);
    if (stored === undefined) continue;
    const [entries = 0] = await log.countBetween(threadFacet(root), [root, log.head() + 1]);
    conversations.push({ entry: await pageEntryOf(stored), entries });
  }
  return { conversations, next: count < MAX_ENTRIES ? undefined : last };
}
