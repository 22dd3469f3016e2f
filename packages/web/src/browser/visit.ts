/**
 * What is new since the last visit. Only this device knows when that was and what was read since. The gateway
 * only counts the entries after a cursor, and stores nothing of it.
 */
import { rememberedAuthor } from './form/remembered-author.ts';
import { fetchJson } from './page.ts';
import { store, stored } from './storage.ts';

/** A seq, and the time at which it was the newest. */
export interface Mark {
  readonly seq: number;
  /** In ms since 1970. */
  readonly time: number;
}

interface Visit {
  /** The log that all these seqs are from. */
  readonly log: string;
  /** The newest seq when this visit last had a page open. */
  readonly last: Mark;
  /** The same for the visit before this one; missing on the first. */
  readonly since?: Mark;
  /** By slug: the newest seq when the visitor last left the room in this visit. */
  readonly read: Readonly<Record<string, number>>;
  /** By slug: the last seqs of what was said from this device. */
  readonly own?: Readonly<Record<string, readonly number[]>>;
}

/** The answer to `/web/news`. */
export interface NewsCounts {
  readonly log: string;
  readonly head: number;
  /** By slug, how many entries of a room are new. */
  readonly rooms: Readonly<Record<string, number>>;
  /** How many entries that concern the name are new, up to a hundred. */
  readonly inbox: number;
}

const KEY = 'open-presence.visit';
/** After a pause longer than this, another visit begins. */
const PAUSE_MS = 30 * 60_000;

/**
 * Begins a visit, or goes on with one. `head`: the newest seq that a page knows, of this log. Other tabs may know
 * more, since browsers show pages again that they have kept.
 */
export function continueVisit(head: number, log: string): Visit {
  const found = stored(KEY) as Visit | undefined;
  const before = found?.log === log ? found : undefined;
  const last = { seq: Math.max(head, before?.last.seq ?? 0), time: Date.now() };
  // The clock may have been set back.
  const isOn = before !== undefined && Math.abs(last.time - before.last.time) < PAUSE_MS;
  const visit: Visit =
    before === undefined
      ? { log, last, read: {} }
      : isOn
        ? { ...before, last }
        : { ...before, last, since: before.last, read: {} };
  store(KEY, visit);
  return visit;
}

/** Marks everything up to this seq as read, the inbox too. */
export function markAllRead(head: number, log: string): void {
  const now = { seq: head, time: Date.now() };
  store(KEY, { log, last: now, since: now, read: {} });
  const name = rememberedName();
  if (name !== undefined) markInboxRead(name, head, log);
}

/** The seq up to which a room was read before this page. */
export function readIn(slug: string, head: number, log: string): number | undefined {
  const { since, read } = continueVisit(head, log);
  return since === undefined ? undefined : Math.max(since.seq, read[slug] ?? 0);
}

export function markRoomRead(slug: string, head: number, log: string): void {
  const visit = continueVisit(head, log);
  store(KEY, { ...visit, read: { ...visit.read, [slug]: head } });
}

const MAX_OWN = 50;

/** One's own words are not news. */
export function markOwn(slug: string, seq: number, log: string): void {
  const visit = continueVisit(seq - 1, log);
  const own = [...(visit.own?.[slug] ?? []), seq].slice(-MAX_OWN);
  store(KEY, { ...visit, own: { ...visit.own, [slug]: own } });
}

export function ownIn(slug: string): readonly number[] {
  return (stored(KEY) as Visit | undefined)?.own?.[slug] ?? [];
}

/** Undefined on a first visit, and where the gateway has another log by now. */
export async function fetchNews({
  log,
  since,
  read,
  own = {},
}: Visit): Promise<NewsCounts | undefined> {
  if (since === undefined) return undefined;
  const query = new URLSearchParams({ after: String(since.seq) });
  for (const [slug, seq] of Object.entries(read)) query.append('read', `${slug} ${seq}`);
  const name = rememberedName();
  if (name !== undefined) {
    query.set('concerns', name);
    query.set('inbox', String(inboxRead(name, log) ?? since.seq));
  }
  const counts = (await fetchJson(`/web/news?${query.toString()}`)) as NewsCounts;
  if (counts.log !== log) return undefined;
  const rooms = Object.entries(counts.rooms).map(([slug, count]): [string, number] => {
    const from = Math.max(since.seq, read[slug] ?? 0);
    const said = (own[slug] ?? []).filter((seq) => seq > from && seq <= counts.head);
    return [slug, Math.max(0, count - said.length)];
  });
  return { ...counts, rooms: Object.fromEntries(rooms) };
}

/** Pages have no more of a name. */
const MAX_NAME_LENGTH = 200;

function isWholeName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && name.length < MAX_NAME_LENGTH;
}

function rememberedName(): string | undefined {
  const name = rememberedAuthor()?.identity;
  return isWholeName(name) ? name : undefined;
}

/** The newest seq when this device last showed the inbox of the name. */
export function inboxRead(name: string, log: string): number | undefined {
  const mark = stored(inboxKey(name)) as InboxMark | undefined;
  return mark?.log === log ? mark.seq : undefined;
}

export function markInboxRead(name: string, seq: number, log: string): void {
  // Longer names could fill the storage of the device.
  if (isWholeName(name)) store(inboxKey(name), { log, seq } satisfies InboxMark);
}

interface InboxMark {
  readonly log: string;
  readonly seq: number;
}

function inboxKey(name: string): string {
  return `open-presence.seen ${name}`;
}
