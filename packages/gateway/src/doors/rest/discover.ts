/** What describes the gateway: discovery (PROTOCOL.md section 10), the rooms and the status document. */
import { hash } from 'node:crypto';

import {
  type Discovery,
  type Locale,
  localize,
  quoted,
  type RoomsDocument,
  SERVICE_LINK_HEADER,
  statusDocument,
} from '@open-presence/protocol';

import type { Seq } from '../../log/log.ts';
import { sendResponse, jsonBody } from '../../http/response/response.ts';
import { contentLanguage, JSON_TYPE, NO_CACHE, NO_STORE } from '../../http/response/headers.ts';
import { notesIn } from '../../http/parameters/parameter-check.ts';
import { localeFor, type RequestContext, type StartupContext } from '../../http/context.ts';
import { pathsById } from '../../http/route-description.ts';
import { checkpointOf } from '../../operations/copy/checkpoint.ts';
import { describeGateway } from '../../operations/describe-gateway.ts';
import { summaryOf } from '../../operations/contribution/first-contact.ts';
import { readVersion } from '../../operations/read-version.ts';
import { roomDocuments } from '../../operations/rooms.ts';
import { newestPresent } from '../../operations/who-is-here.ts';
import type { DoorContext, DoorRequest } from '../context.ts';

const MAX_NEWEST = 12;
const MAX_HERE = 12;

export async function discover(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  // Read before everything that the tag covers: what is stored meanwhile changes the next tag.
  const head = app.log.head();
  const version = readVersion(app.log);
  const description = describe(app, locale, head);
  const { status } = description;
  const here = await newestPresent(app, { head, limit: MAX_HERE });
  const tag = textTag(
    app,
    head,
    locale,
    `-${status}${version}-${presenceHash(here)}${mirrorTag(app)}`,
  );
  const opening = jsonBody({ ...notesIn(request), ...description, here } satisfies Omit<
    Discovery,
    'newest'
  >);
  const newest = await newestOf(app, head);
  const body = Buffer.concat([
    opening.subarray(0, opening.lastIndexOf('}')),
    Buffer.from(',"newest":[\n'),
    ...newest.flatMap((entry, at) => (at === 0 ? [entry] : [Buffer.from(',\n'), entry])),
    Buffer.from('\n]}\n'),
  ]);
  const headers = { ...NO_CACHE, ...contentLanguage(locale), ...SERVICE_LINK_HEADER };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body, tag });
}

/**
 * Changes with who is here, how, where and since when. Leaves out `lastSeen`, which changes with each
 * request of a visitor.
 */
function presenceHash(here: Discovery['here']): string {
  const stable = here.map(({ identity, via, room, since }) => [identity, via, room, since]);
  return hash('sha256', JSON.stringify(stable), 'base64url').slice(0, 16);
}

function mirrorTag({ mirror, log }: DoorContext): string {
  if (mirror === undefined) return '';
  const { state, behind } = mirror.describe(log);
  return `-${state}-${behind}`;
}

/** Everything but the visitors who are here and the newest entries. */
function describe(
  app: DoorContext,
  locale: Locale | undefined,
  head: Seq,
): Omit<Discovery, 'here' | 'newest'> {
  const { language, log } = app;
  const described = describeGateway(language, locale, pathsById(app.routes));
  const { service, version, ...rest } = described;
  const status = app.state();
  const rooms = roomDocuments(app, locale);
  const position = { head, log: log.id, checkpoint: checkpointOf(log, head) };
  const mirror = app.mirror === undefined ? {} : { mirror: app.mirror.describe(log) };
  return { service, status, version, ...mirror, ...position, ...rest, rooms };
}

async function newestOf({ log }: DoorContext, head: Seq): Promise<Uint8Array[]> {
  const newest = { facets: [], order: 'newest', before: head + 1, limit: MAX_NEWEST } as const;
  return await Array.fromAsync(log.readEntries(newest), summaryOf);
}

/** `GET /api/rooms` (PROTOCOL.md section 5). */
export async function rooms(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const tag = textTag(app, app.log.head(), locale);
  const document: RoomsDocument = { ...notesIn(request), rooms: roomDocuments(app, locale) };
  const headers = { ...NO_CACHE, ...contentLanguage(locale) };
  await sendResponse(context, {
    status: 200,
    type: JSON_TYPE,
    headers,
    body: jsonBody(document),
    tag,
  });
}

/**
 * The tag of a response that is made of the log's state and texts of the language file. `head` must have been
 * read before that state.
 */
function textTag(
  { log, languageHash }: Pick<DoorContext, 'log' | 'languageHash'>,
  head: Seq,
  locale: Locale | undefined,
  suffix = '',
): string {
  return `W/"${log.id.slice(0, 8)}-${head}-${languageHash}-${locale ?? 'shown'}${suffix}"`;
}

/** The status document (PROTOCOL.md section 2). `varied`: the request headers that selected this representation. */
export async function status(
  context: RequestContext<StartupContext>,
  ...varied: readonly string[]
): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const usual = statusDocument(app.language, app.state(), locale, new Date());
  const readOnly = app.readOnly();
  const held = localize(app.language.states.holding.meaning, locale);
  const message = `${held} ${quoted(readOnly ?? '')} ${usual.message}`;
  const document = readOnly === undefined ? usual : { ...usual, message };
  const headers = { ...NO_STORE, ...contentLanguage(locale, ...varied), ...SERVICE_LINK_HEADER };
  await sendResponse(context, { status: 200, type: JSON_TYPE, headers, body: jsonBody(document) });
}
