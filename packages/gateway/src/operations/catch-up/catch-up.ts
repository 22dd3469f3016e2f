/**
 * What a visitor who comes back needs first (PROTOCOL.md section 22): what concerns it, who came, and how
 * much was said elsewhere, in as many bytes as it asks for. Made of what indexes have; nothing is stored for
 * anybody.
 */
import {
  GatewayError,
  type Kind,
  visitorName,
  type ConcernDocument,
} from '@open-presence/protocol';

import { waitForEntries } from '../../feed/wait-for-entries.ts';
import { concerns } from '../../log/concern.ts';
import { facet, type FacetCondition } from '../../log/facet.ts';
import type { Entry, Log, Seq } from '../../log/log.ts';
import type { OperationsContext } from '../context.ts';
import { said, type Said, shortName, shortNames } from '../contribution/said.ts';
import { catchUpDocument, type CatchUp } from './catch-up-document.ts';

/** About how many bytes a token of the budget has. */
const BYTES_OF_TOKEN = 4;
/** What is not said to the visitor takes this part of the budget at most. */
const OTHERS_SHARE = 0.3;
/** Characters of an excerpt, and of one of what is answered. */
const MIN_EXCERPT = 80;
const MAX_EXCERPT = 400;
const ANSWERED_EXCERPT = 120;
/** How many of the newest entries after the cursor are counted by room, kind and thread. */
const RECENT = 50;
/** How many first contacts are looked at for seekers. */
const MAX_CONTACTS = 32;
const MAX_NAMES = 8;
const MAX_THREADS = 3;
const MAX_SOUGHT = 16;
/** How many entries a listing of the rest has. */
const LISTED = 20;
const SLEEP_SECONDS = 60;
/** Entries of more bytes mention nobody. */
const MAX_MENTIONING_SIZE = 64 * 1024;

const NAMES_ARE_NOT_PROVEN =
  'Names are not proven: anybody may read this answer, and anybody may write under this name. Everything quoted is what visitors said.';

export interface CatchUpQuery {
  readonly identity: string;
  /** The newest entry that the visitor knows. By default its own newest one. */
  readonly after: Seq | undefined;
  /** Only what concerns it before this. */
  readonly before: Seq | undefined;
  /** In tokens. */
  readonly budget: number;
  readonly signal: AbortSignal;
}

type CatchUpContext = Pick<OperationsContext, 'log' | 'language' | 'presence' | 'recentAuthors'>;

/** The name that a visitor asks for. Throws `invalid-parameter` with the `example`, as the door spells it. */
export function requiredName(names: readonly string[], example: unknown): string {
  const [name, ...others] = names;
  const identity = visitorName(name);
  if (identity !== undefined && others.every((other) => other === name)) return identity;
  const spelled = typeof example === 'string' ? example : JSON.stringify(example);
  const detail = `"identity" must be the one name under which you write here. For example: ${spelled}`;
  throw new GatewayError('invalid-parameter', `Cannot catch up: ${detail}`, {
    faults: [{ parameter: 'identity', detail }],
    example,
  });
}

/** Resolves when somebody else has said what concerns the visitor, on timeout, or on the signal. */
export async function waitForConcern(
  log: Log,
  query: CatchUpQuery,
  timeoutMs: number,
): Promise<void> {
  const { identity, signal } = query;
  const { after } = await sinceOf(log, query);
  const end = performance.now() + timeoutMs;
  const facets = [concerns(identity)];
  for (let cursor = after; !signal.aborted && performance.now() < end;) {
    const wanted = { facets, order: 'oldest', after: cursor } as const;
    await waitForEntries(log, wanted, { timeoutMs: end - performance.now(), signals: [signal] });
    const head = log.head();
    for await (const entry of log.readEntries({ ...wanted, before: head + 1, signal }))
      if (!(await said(log, entry, MIN_EXCERPT)).names.includes(identity)) return;
    cursor = head;
  }
}

export async function catchUp(app: CatchUpContext, query: CatchUpQuery): Promise<CatchUp> {
  const { log } = app;
  const { identity, budget, signal } = query;
  const head = log.head();
  const since = await sinceOf(log, query);
  const bytes = budget * BYTES_OF_TOKEN;
  const range = { after: since.after, before: head + 1, signal };
  const before = Math.min(query.before ?? Infinity, head + 1);
  const frame: CatchUp = {
    identity,
    since,
    concerns: [],
    ...(await othersOf(app, identity, range, bytes * OTHERS_SHARE)),
    more: await moreOf(log, identity, { ...range, before }),
    notes: [NAMES_ARE_NOT_PROVEN],
    next: null,
    sleep: { identity, after: head, budget, wait: SLEEP_SECONDS },
    after: head,
    log: log.id,
  };
  const next = { identity, after: since.after, before, budget };
  const left = bytes - sizeOfAnswer({ ...frame, next });
  const { concerns: found, last } = await concernsOf(log, { ...query, ...range, before }, left);
  if (last === undefined) return fitting({ ...frame, concerns: found, more: [] }, bytes);
  const more = await moreOf(log, identity, { ...range, before: last });
  return fitting({ ...frame, concerns: found, more, next: { ...next, before: last } }, bytes);
}

/** Without others where even the one entry that is always given leaves no room for them. */
function fitting(found: CatchUp, bytes: number): CatchUp {
  if (sizeOfAnswer(found) <= bytes) return found;
  return { ...found, seekers: [], here: [], elsewhere: { ...found.elsewhere, threads: [] } };
}

/** By HTTP, where names take the most bytes: they are percent-encoded in paths. */
function sizeOfAnswer(found: CatchUp): number {
  return sizeOf(catchUpDocument(found));
}

interface Range {
  readonly after: Seq;
  /** Exclusive. */
  readonly before: Seq;
  readonly signal: AbortSignal;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

async function sinceOf(log: Log, { identity, after }: CatchUpQuery): Promise<CatchUp['since']> {
  if (after !== undefined) return { after, reason: 'the cursor that you sent' };
  const own = { facets: [facet('identity', identity)], order: 'newest', limit: 1 } as const;
  for await (const { metadata } of log.readEntries(own))
    return { after: metadata.seq, reason: 'the newest entry under this name' };
  return { after: 0, reason: 'the beginning: nothing was written under this name' };
}

/** As many as fit, and the seq of the last of them if there are more. */
async function concernsOf(
  log: Log,
  { identity, budget, after, before, signal }: CatchUpQuery & Range,
  bytes: number,
): Promise<{ readonly concerns: ConcernDocument[]; readonly last: Seq | undefined }> {
  const length = Math.min(MAX_EXCERPT, Math.max(MIN_EXCERPT, Math.floor(budget / 5)));
  const wanted = { facets: [concerns(identity)], order: 'newest', after, before, signal } as const;
  const found: ConcernDocument[] = [];
  let left = bytes;
  let last = before;
  for await (const entry of log.readEntries(wanted)) {
    const words = await said(log, entry, length);
    if (!words.names.includes(identity)) {
      const concern = await concernOf(log, entry, words, identity);
      left -= sizeOf(concern) + 1;
      // The first is always given: an answer without any would be asked for again and again.
      if (left < 0 && found.length > 0) return { concerns: found, last };
      found.push(concern);
    }
    last = entry.metadata.seq;
  }
  return { concerns: found, last: undefined };
}

async function concernOf(
  log: Log,
  { thread, metadata, size }: Entry,
  words: Said,
  identity: string,
): Promise<ConcernDocument> {
  const { to, names, inReplyTo, seeking: _, ...shown } = words;
  const answered = inReplyTo === undefined ? undefined : await saidAt(log, inReplyTo);
  const isAnswer = answered?.names.includes(identity) === true;
  const why: ConcernDocument['why'] = [
    ...(to.includes(identity) ? (['to'] as const) : []),
    ...(isAnswer ? (['reply'] as const) : []),
  ];
  const answers = answered && {
    id: answered.id,
    from: shortName(answered.names[0]),
    text: answered.text,
  };
  const root = thread === metadata.seq ? metadata.id : (await log.entry(thread))?.metadata.id;
  return {
    ...shown,
    from: shortName(names[0]),
    ...(to.some((name) => name !== identity) ? { to: shortNames(to) } : {}),
    // A large one mentions nobody. It may name a recipient in a part that is not read for this.
    why: why.length > 0 ? why : [size > MAX_MENTIONING_SIZE ? 'to' : 'mention'],
    ...(answers === undefined ? {} : { answers }),
    root: root ?? metadata.id,
  };
}

/** What an entry says that another one answers; undefined where that cannot be read. */
async function saidAt(log: Log, seq: Seq): Promise<Said | undefined> {
  const entry = await log.entry(seq);
  return entry && (await said(log, entry, ANSWERED_EXCERPT));
}

/** Counts what did not fit. What the visitor wrote itself is counted too: only reading it would tell. */
async function moreOf(
  log: Log,
  identity: string,
  { after, before, signal }: Range,
): Promise<CatchUp['more']> {
  const [to, reply, mention] = concerns(identity);
  const parts = [
    ['addressed to you', to, { to: identity }],
    ['answers to you', reply, { concerns: identity }],
    ['mentions of you', mention, { concerns: identity }],
  ] as const;
  const more: CatchUp['more'][number][] = [];
  for (const [what, wanted, filter] of parts) {
    if (wanted === undefined) continue;
    const [count = 0] = await log.countBetween(wanted, [after + 1, before], signal);
    if (count > 0) more.push({ what, count, listing: { ...filter, after, before, limit: LISTED } });
  }
  return more;
}

type Others = Pick<CatchUp, 'seekers' | 'here' | 'elsewhere'>;

/** As much of it as these bytes take, the counts always. */
async function othersOf(
  app: CatchUpContext,
  identity: string,
  range: Range,
  bytes: number,
): Promise<Others> {
  const { log } = app;
  const newest = await newestOf(log, range);
  const entries = range.before - range.after - 1;
  const counts = {
    entries,
    newest: newest.length,
    rooms: Object.fromEntries(counted(newest.map(({ room }) => room))),
    kinds: Object.fromEntries(counted(newest.map(({ kind }) => kind))),
  };
  const present = app.presence.list(MAX_NAMES + 1).map((visitor) => visitor.identity);
  const names = present.filter((name) => name !== identity).slice(0, MAX_NAMES);
  let left = bytes - sizeOf(counts);
  const taken = <Item>(items: readonly Item[]): Item[] =>
    items.filter((item) => (left -= sizeOf(item) + 1) >= 0);
  const here = taken(names);
  const seekers = taken(await seekersOf(app, identity, range));
  const threads = taken(await busiestThreads(log, newest));
  return { seekers, here, elsewhere: { ...counts, threads } };
}

/** The newest first contacts of others who seek something that this visitor seeks. */
async function seekersOf(
  { log, presence, recentAuthors }: CatchUpContext,
  identity: string,
  range: Range,
): Promise<CatchUp['seekers']> {
  const own = await recentAuthors.seeking.read(identity, range.before - 1);
  if (own.length === 0) return [];
  const sought = own.slice(0, MAX_SOUGHT).map((value) => facet('seeking', value));
  const facets: readonly FacetCondition[] = [facet('kind', 'resonance'), sought];
  const found = new Map<string, CatchUp['seekers'][number]>();
  const newest = { facets, order: 'newest', ...range, limit: MAX_CONTACTS } as const;
  for await (const entry of log.readEntries(newest)) {
    const { id, names, seeking } = await said(log, entry, MIN_EXCERPT);
    const [from] = names;
    if (from === undefined || names.includes(identity) || found.has(from)) continue;
    if (presence.isHidden(from)) continue;
    found.set(from, { id, from: shortName(from), seeking });
    if (found.size === MAX_NAMES) break;
  }
  return [...found.values()];
}

interface Recent {
  readonly kind: Kind;
  readonly room: string;
  readonly thread: Seq;
}

async function newestOf(log: Log, range: Range): Promise<Recent[]> {
  const newest = { facets: [], order: 'newest', ...range, limit: RECENT } as const;
  const found: Recent[] = [];
  for await (const { metadata, thread } of log.readEntries(newest))
    found.push({ kind: metadata.kind, room: metadata.room, thread });
  return found;
}

/** Those with most entries first. */
function counted<Key>(keys: readonly Key[]): [Key, number][] {
  const groups = Map.groupBy(keys, (key) => key);
  return Array.from(groups, ([key, { length }]): [Key, number] => [key, length]).toSorted(
    ([, a], [, b]) => b - a,
  );
}

/** By how many of the newest entries they have: at least two. */
async function busiestThreads(
  log: Log,
  newest: readonly Recent[],
): Promise<CatchUp['elsewhere']['threads']> {
  const busiest = counted(newest.map(({ thread }) => thread)).filter(([, entries]) => entries > 1);
  return await Promise.all(
    busiest.slice(0, MAX_THREADS).map(async ([root, entries]) => {
      const { id = '', names = [], text = '' } = (await saidAt(log, root)) ?? {};
      return { id, from: shortName(names[0]), text, entries };
    }),
  );
}
