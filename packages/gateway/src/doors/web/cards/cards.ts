/**
 * `GET /web/cards/…`: the picture that previews of links show for the page at the rest of the path. It is drawn
 * again only after its content has changed, also when that was withheld.
 */
import type { Card, Shell } from '@open-presence/web/page-data';

import { leadOf, visibleName } from '@open-presence/web/renderer';

import { abortOnDisconnect } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { COMMON_HEADERS, NO_CACHE, vary } from '../../../http/response/headers.ts';
import { sendNotModified } from '../../../http/response/not-modified.ts';
import { cachedResponseOf, sendCached } from '../../../http/response/response-cache.ts';
import { contentHash } from '../../../http/response/response.ts';
import { facet } from '../../../log/facet.ts';
import type { Selection } from '../../../log/log.ts';
import { findEntry } from '../../../operations/find-entry.ts';
import { findRoom, roomDocument } from '../../../operations/rooms.ts';
import type { DoorHandler, DoorRequest } from '../../context.ts';
import { gardenEntryOf, readGardenEntries } from '../entries/garden-entries.ts';
import { cutText, pageEntryOf } from '../entries/page-entry.ts';
import { visitorIn } from '../pages/visitor.ts';
import { roomName, shellOf } from '../shell.ts';
import { draw } from './draw.ts';

/** UTF-16 code units of a text, and of a name. */
const MAX_TEXT = 400;
const MAX_NAME = 100;
const MAX_PLANTS = 3;
const HEADERS = { ...COMMON_HEADERS, ...NO_CACHE, ...vary('Accept-Language') };
/** What is cached holds for every state of the log. */
const ANY_HEAD = 0;

type CardContent = Omit<Card, 'service'>;

export const sendEntryCard: DoorHandler = cardHandler(async ({ app, params }, { rooms }) => {
  const stored = await findEntry(app.log, params['id'] ?? '');
  const { text, seeking = [], author, room } = await pageEntryOf(stored);
  return {
    text: cutText(text === '' ? seeking.join(', ') : text, MAX_TEXT),
    by: author && cutText(visibleName(author), MAX_NAME),
    where: rooms.find(({ slug }) => slug === room)?.title,
    plants: [await gardenEntryOf(stored)],
  };
});

export const sendRoomCard: DoorHandler = cardHandler(async ({ app, params }, { locale }) => {
  const found = findRoom(app.language, params['slug'] ?? '');
  const { title, translation } = roomName(found, locale);
  const { slug, description } = roomDocument(app, found, locale);
  return {
    heading: title,
    text: translation === undefined ? description : `${translation}. ${description}`,
    plants: await newestPlants(app, [facet('room', slug)]),
  };
});

export const sendVisitorCard: DoorHandler = cardHandler(async (context) => {
  const { app, request } = context;
  const name = (await visitorIn(context, queryOf(request))) ?? '';
  const plants = await newestPlants(app, [facet('identity', name)]);
  return { heading: cutText(visibleName(name), MAX_NAME), text: plants[0]?.text ?? '', plants };
});

export const sendHouseCard: DoorHandler = cardHandler(async ({ app }, { service, locale }) => {
  return { heading: service, text: leadOf(locale), plants: await newestPlants(app, []) };
});

function cardHandler(
  contentOf: (context: DoorRequest, shell: Shell) => Promise<CardContent>,
): DoorHandler {
  return async (context) => {
    const { responseCache } = context.app;
    const shell = shellOf(context);
    const card = { ...(await contentOf(context, shell)), service: shell.service };
    const hash = contentHash(Buffer.from(JSON.stringify(card)));
    const [tag, key] = [`"${hash}"`, `card ${hash}`];
    if (sendNotModified(context, tag, HEADERS)) return;
    using caller = abortOnDisconnect(context);
    const cached =
      responseCache.get(key, ANY_HEAD) ??
      (await responseCache.create(key, ANY_HEAD, caller.signal, async (ending) => {
        const plain = Buffer.from(await draw(card, ending));
        const response = { head: ANY_HEAD, tag, type: 'image/png', plain, encoding: undefined };
        return await cachedResponseOf({ ...response, headers: { ...HEADERS, ETag: tag } });
      }));
    if (cached !== undefined) sendCached(context, cached);
  };
}

function newestPlants(
  { log }: DoorRequest['app'],
  facets: Selection['facets'],
): Promise<Card['plants'][number][]> {
  return readGardenEntries(log, { facets, order: 'newest', limit: MAX_PLANTS });
}
