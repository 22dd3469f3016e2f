/** One page that lets a machine use everything (PROTOCOL.md section 10). */
import { hash } from 'node:crypto';

import {
  type Discovery,
  type Kind,
  KINDS,
  type Language,
  type Locale,
  localize,
  PATHS,
  SERVICE_LINK_HEADER,
} from '@open-presence/protocol';

import type { Seq } from '../../log/log.ts';
import { answer, contentLanguage, json, JSON_TYPE, REVALIDATE } from '../../http/answers.ts';
import { localeFor, type RequestContext, type AppContext } from '../../http/context.ts';
import { summaryOf } from '../../operations/first-contact.ts';
import { hereNow } from './presence.ts';
import { roomDocuments, worded } from './rooms.ts';

const NEWEST = 12;
/** At most so many visitors are told as here. */
const HERE = 12;

export async function discover(context: RequestContext): Promise<void> {
  const { app, request } = context;
  const locale = localeFor(request);
  const everything = everythingElse(app, locale);
  const { head, status } = everything;
  const here = await hereNow(app, { head, most: HERE });
  const tag = worded(app, locale, `-${status}-${markOf(here)}`);
  const beginning = json({ ...everything, here } satisfies Omit<Discovery, 'newest'>);
  const newest = await newestOf(app, head);
  const body = Buffer.concat([
    beginning.subarray(0, beginning.lastIndexOf('}')),
    Buffer.from(',"newest":[\n'),
    ...newest.flatMap((entry, at) => (at === 0 ? [entry] : [Buffer.from(',\n'), entry])),
    Buffer.from('\n]}\n'),
  ]);
  const headers = { ...REVALIDATE, ...contentLanguage(locale), ...SERVICE_LINK_HEADER };
  await answer(context, { status: 200, type: JSON_TYPE, headers, body, tag });
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
  app: AppContext,
  locale: Locale | undefined,
): Omit<Discovery, 'here' | 'newest'> {
  const { language, log } = app;
  const { service, version, trust, kinds, doors, parameters } = describedIn(language, locale);
  const status = app.state();
  const rooms = roomDocuments(app, locale);
  return { service, status, version, head: log.head(), trust, kinds, rooms, doors, parameters };
}

/** What is told of every gateway that speaks this language. */
export function describedIn(
  language: Language,
  locale: Locale | undefined,
): Omit<Discovery, 'status' | 'head' | 'rooms' | 'here' | 'newest'> {
  return {
    service: localize(language.service, locale),
    version: language.version,
    trust: localize(language.labels.trust, locale),
    kinds: KINDS.map((kind) => kindOf(language, kind, locale)),
    doors: Object.entries(language.doors).map(([name, words]) => {
      return { name, path: PATHS[name] ?? '/', meaning: localize(words, locale) };
    }),
    parameters: Object.entries(language.parameters).map(([name, words]) => {
      return { name, meaning: localize(words, locale) };
    }),
  };
}

function kindOf(
  language: Language,
  kind: Kind,
  locale: Locale | undefined,
): Discovery['kinds'][number] {
  const { title, meaning, path, room, fields, sentences } = language.kinds[kind];
  return {
    kind,
    title: localize(title, locale),
    meaning: localize(meaning, locale),
    path,
    methods: ['GET', 'POST'],
    room,
    fields: [...fields, ...language.common].map((field) => {
      const { name, type, required, example } = field;
      return { name, type, required, meaning: localize(field.meaning, locale), example };
    }),
    example: sentences[0]?.body ?? {},
  };
}

async function newestOf({ log }: AppContext, head: Seq): Promise<Uint8Array[]> {
  const entries = log.readEntries({ facets: [], order: 'newest', before: head + 1, limit: NEWEST });
  return await Array.fromAsync(entries, summaryOf);
}
