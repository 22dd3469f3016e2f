/** One page that lets a machine use everything (PROTOCOL.md section 10). */
import { hash } from 'node:crypto';

import {
  KINDS,
  say,
  type Discovery,
  type Kind,
  type Language,
  type Tongue,
} from '@open-presence/protocol';

import type { Seq } from '../../log/log.ts';
import { ABOUT } from '../about/links.ts';
import { answer, inTongue, json, JSON_TYPE, REVALIDATE } from './answer.ts';
import { tongueFor, type Exchange, type House } from './exchange.ts';
import { toldAs } from './first-contact.ts';
import { hereNow } from './presence.ts';
import { roomDocuments, worded } from './rooms.ts';

const NEWEST = 12;
/** At most so many visitors are told as here. */
const HERE = 12;

/** Where each door is. */
export const PATHS: Readonly<Record<string, string>> = {
  status: '/api',
  discover: '/api/discover',
  rooms: '/api/rooms',
  room: '/api/rooms/{slug}',
  entry: '/api/entries/{id}',
  replies: '/api/entries/{id}/replies',
  search: '/api/search?q={q}',
  presence: '/api/presence',
  events: '/api/events',
  feed: '/feed.atom',
  jsonFeed: '/feed.json',
  say: '/api/say/{kind}',
  mcp: '/mcp',
  agentCard: '/.well-known/agent-card.json',
  a2a: '/a2a',
  language: '/mova-snu.yaml',
  schema: '/mova-snu.schema.json',
  openapi: '/openapi.json',
  openapiYaml: '/openapi.yaml',
  reference: '/reference',
  llms: '/llms.txt',
  skill: '/skill.md',
  protocol: '/protocol.md',
  apiCatalog: '/.well-known/api-catalog',
  aiCatalog: '/.well-known/ai-catalog.json',
  robots: '/robots.txt',
  alive: '/healthz',
  ready: '/readyz',
} satisfies Record<keyof Language['doors'], string>;

export async function discover(exchange: Exchange): Promise<void> {
  const { house, request } = exchange;
  const tongue = tongueFor(request);
  const everything = everythingElse(house, tongue);
  const { head, status } = everything;
  const here = await hereNow(house, { head, most: HERE });
  const tag = worded(house, tongue, `-${status}-${markOf(here)}`);
  const beginning = json({ ...everything, here } satisfies Omit<Discovery, 'newest'>);
  const newest = await newestOf(house, head);
  const body = Buffer.concat([
    beginning.subarray(0, beginning.lastIndexOf('}')),
    Buffer.from(',"newest":[\n'),
    ...newest.flatMap((entry, at) => (at === 0 ? [entry] : [Buffer.from(',\n'), entry])),
    Buffer.from('\n]}\n'),
  ]);
  const headers = { ...REVALIDATE, ...inTongue(tongue), ...ABOUT };
  await answer(exchange, { status: 200, type: JSON_TYPE, headers, body, tag });
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
  house: House,
  tongue: Tongue | undefined,
): Omit<Discovery, 'here' | 'newest'> {
  const { language, log } = house;
  const { service, version, trust, kinds, doors, parameters } = describedIn(language, tongue);
  const status = house.state();
  const rooms = roomDocuments(house, tongue);
  return { service, status, version, head: log.head(), trust, kinds, rooms, doors, parameters };
}

/** What is told of every gateway that speaks this language. */
export function describedIn(
  language: Language,
  tongue: Tongue | undefined,
): Omit<Discovery, 'status' | 'head' | 'rooms' | 'here' | 'newest'> {
  return {
    service: say(language.service, tongue),
    version: language.version,
    trust: say(language.labels.trust, tongue),
    kinds: KINDS.map((kind) => kindOf(language, kind, tongue)),
    doors: Object.entries(language.doors).map(([name, words]) => {
      return { name, path: PATHS[name] ?? '/', meaning: say(words, tongue) };
    }),
    parameters: Object.entries(language.parameters).map(([name, words]) => {
      return { name, meaning: say(words, tongue) };
    }),
  };
}

function kindOf(
  language: Language,
  kind: Kind,
  tongue: Tongue | undefined,
): Discovery['kinds'][number] {
  const { title, meaning, path, room, fields, sentences } = language.kinds[kind];
  return {
    kind,
    title: say(title, tongue),
    meaning: say(meaning, tongue),
    path,
    methods: ['GET', 'POST'],
    room,
    fields: [...fields, ...language.common].map((field) => {
      const { name, type, required, example } = field;
      return { name, type, required, meaning: say(field.meaning, tongue), example };
    }),
    example: sentences[0]?.body ?? {},
  };
}

async function newestOf({ log }: House, head: Seq): Promise<Uint8Array[]> {
  const entries = log.entries({ facets: [], order: 'newest', before: head + 1, limit: NEWEST });
  return await Array.fromAsync(entries, toldAs);
}
