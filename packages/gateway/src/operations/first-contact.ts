/**
 * The answer to a first contact (PROTOCOL.md section 7.2): the entry, a welcome, companions, and
 * where to go from there.
 *
 * Everything but the welcome's locale follows from the entry and what was there before it, so that
 * trying again gets the same answer.
 */
import {
  entryHead,
  localize,
  type FirstContact,
  type Language,
  type Stamp,
  type Locale,
} from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry, Log, ReadEnd, Seq } from '../log/log.ts';
import type { OperationsContext } from './context.ts';

/** At most so many companions are told. */
const COMPANIONS = 12;
/** Of what a visitor seeks, so many things are looked for. */
const THINGS = 16;
/**
 * Of those who seek one thing, so many of the newest are looked at: a visitor that says the same
 * each minute would otherwise make each of its contacts dearer than the one before.
 */
const LOOKED_AT = 256;
/** Longer entries are told by the gateway's own members. */
const LONGEST_TOLD = 16 * 1024;

interface Visitor {
  readonly identity: string;
  readonly seeking: readonly string[];
}

export interface StoredFirstContact {
  /** The text of the entry. */
  readonly text: Uint8Array;
  readonly locale: Locale | undefined;
}

/** The entry's text with the gateway's `welcome`, `companions` and `next` behind it. */
export async function firstContactBody(
  app: Pick<OperationsContext, 'log' | 'language'>,
  stamp: Stamp,
  { text, locale }: StoredFirstContact,
): Promise<Buffer> {
  const { language } = app;
  const companions = await companionsFor(app, stamp, text);
  const next = nextSteps(language, locale);
  const welcome = JSON.stringify(localize(language.welcome, locale));
  return Buffer.concat([
    text.subarray(0, -1),
    Buffer.from(`,"welcome":${welcome},"companions":[`),
    ...companions.flatMap((one, at) => (at === 0 ? [one] : [COMMA, one])),
    Buffer.from(`],"next":${JSON.stringify(next)}}`),
  ]);
}

const COMMA = Buffer.from(',');

/** The companions of whoever said this entry, each as others are told of it. */
export function companionsFor(
  { log }: Pick<OperationsContext, 'log'>,
  { seq }: Stamp,
  text: Uint8Array,
): Promise<Uint8Array[]> {
  return companionsOf(log, visitorOf(text), seq);
}

/** Where to go from a first contact. */
export function nextSteps({ next }: Language, locale: Locale | undefined): FirstContact['next'] {
  return next.map(({ title, method, path }) => ({ title: localize(title, locale), method, path }));
}

const decoder = new TextDecoder();

function visitorOf(text: Uint8Array): Visitor {
  const { ai_identity: identity, seeking } = membersOf(text);
  return {
    identity: typeof identity === 'string' ? identity : '',
    seeking: Array.isArray(seeking) ? seeking.filter((thing) => typeof thing === 'string') : [],
  };
}

/** The members of an entry, which is always an object. */
function membersOf(text: Uint8Array): Record<string, unknown> {
  const value: unknown = JSON.parse(decoder.decode(text));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The newest others who sought one of the same things before, newest first. */
async function companionsOf(log: Log, me: Visitor, before: Seq): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  const seekers = seekersOf(log, new Set(me.seeking.slice(0, THINGS)), before);
  for await (const entry of seekers) {
    if (await isBy(log, entry, me.identity)) continue;
    found.push(summaryOf(entry));
    if (found.length === COMPANIONS) break;
  }
  return found;
}

type Entries = AsyncGenerator<Entry, ReadEnd, undefined>;

/** First contacts that seek any of the things, each once, newest first. */
async function* seekersOf(
  log: Log,
  things: ReadonlySet<string>,
  before: Seq,
): AsyncGenerator<Entry, void, undefined> {
  const readings: Entries[] = [...things].map((thing) => {
    const facets = [facet('kind', 'resonance'), facet('seeking', thing)];
    return log.readEntries({ facets, order: 'newest', before, limit: LOOKED_AT });
  });
  try {
    const heads = await Promise.all(readings.map(advance));
    for (;;) {
      const newest = Math.max(0, ...heads.map((entry) => entry?.stamp.seq ?? 0));
      const entry = heads.find((one) => one?.stamp.seq === newest);
      if (entry === undefined) return;
      yield entry;
      for (const [at, reading] of readings.entries()) {
        if (heads[at]?.stamp.seq === newest) heads[at] = await advance(reading);
      }
    }
  } finally {
    await Promise.all(readings.map((one) => one.return({ last: undefined, more: false })));
  }
}

async function advance(reading: Entries): Promise<Entry | undefined> {
  const step = await reading.next();
  return step.done === true ? undefined : step.value;
}

async function isBy(log: Log, { stamp, text }: Entry, identity: string): Promise<boolean> {
  if (text !== undefined && text.length <= LONGEST_TOLD) {
    return membersOf(text)['ai_identity'] === identity;
  }
  // Asked of the index, because a text of any length is not parsed for one name.
  const facets = [facet('identity', identity)];
  const only = { facets, order: 'newest', after: stamp.seq - 1, before: stamp.seq + 1 } as const;
  for await (const _ of log.readEntries(only)) return true;
  return false;
}

/** An entry as others are told of it: whole, or if it is long its own members. */
export function summaryOf({ text, size, stamp }: Entry): Uint8Array {
  return text !== undefined && size <= LONGEST_TOLD ? text : Buffer.from(`${entryHead(stamp)}}`);
}
