/** One page that lets a machine use everything (PROTOCOL.md section 10). */
import { hash } from 'node:crypto';

import { type Discovery, type Locale, SERVICE_LINK_HEADER } from '@open-presence/protocol';

import type { Seq } from '../../log/log.ts';
import { sendResponse, jsonBody } from '../../http/response.ts';
import { contentLanguage, JSON_TYPE, NO_CACHE } from '../../http/headers.ts';
import { localeFor } from '../../http/context.ts';
import { describeGateway } from '../../operations/describe-gateway.ts';
import { summaryOf } from '../../operations/first-contact.ts';
import { roomDocuments } from '../../operations/rooms.ts';
import { newestPresent } from '../../operations/who-is-here.ts';
import type { DoorContext, DoorRequest } from '../context.ts';
import { textTag } from './rooms.ts';

/** Entries that are shown. */
const NEWEST = 12;
/** Visitors who are shown as here. */
const HERE = 12;

export async function discover(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const everything = everythingElse(app, locale);
  const { head, status } = everything;
  const here = await newestPresent(app, { head, most: HERE });
  const tag = textTag(app, locale, `-${status}-${markOf(here)}`);
  const beginning = jsonBody({ ...everything, here } satisfies Omit<Discovery, 'newest'>);
  const newest = await newestOf(app, head);
  const body = Buffer.concat([
    beginning.subarray(0, beginning.lastIndexOf('}')),
    Buffer.from(',"newest":[\n'),
    ...newest.flatMap((entry, at) => (at === 0 ? [entry] : [Buffer.from(',\n'), entry])),
    Buffer.from('\n]}\n'),
  ]);
  const headers = { ...NO_CACHE, ...contentLanguage(locale), ...SERVICE_LINK_HEADER };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body, tag });
}

/**
 * Changes with who is here, how, where and since when. The last sight of a visitor alone changes no
 * tag: a page that is read by somebody would never be the same twice.
 */
function markOf(here: Discovery['here']): string {
  const lasting = here.map(({ identity, via, room, since }) => [identity, via, room, since]);
  return hash('sha256', JSON.stringify(lasting), 'base64url').slice(0, 16);
}

/** All but who is here and the newest entries, whose text is never parsed. */
function everythingElse(
  app: DoorContext,
  locale: Locale | undefined,
): Omit<Discovery, 'here' | 'newest'> {
  const { language, log } = app;
  const { service, version, trust, kinds, doors, parameters } = describeGateway(language, locale);
  const status = app.state();
  const rooms = roomDocuments(app, locale);
  return { service, status, version, head: log.head(), trust, kinds, rooms, doors, parameters };
}

async function newestOf({ log }: DoorContext, head: Seq): Promise<Uint8Array[]> {
  const entries = log.readEntries({ facets: [], order: 'newest', before: head + 1, limit: NEWEST });
  return await Array.fromAsync(entries, summaryOf);
}
