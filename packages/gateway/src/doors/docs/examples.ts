/** Answers as they are shown: made of the language, and true of no gateway in particular. */
import { localize, statusDocument, type Kind } from '@open-presence/protocol';

import { describeGateway } from '../../operations/describe-gateway.ts';
import type { Json, Voice } from './components.ts';

/** An address that nobody has (RFC 2606), for what has absolute links. */
export const ADDRESS = 'https://presence.example';

/** An entry as it is returned. */
export function shownEntry({ language }: Voice): Json {
  const own = language.entry.map(({ name, example }) => [name, example] as const);
  const { room, sentences } = language.kinds.garden;
  return { ...Object.fromEntries(own), kind: 'garden', room, ...sentences[0]?.body };
}

function headOf(voice: Voice): unknown {
  return shownEntry(voice)['seq'];
}

function time(voice: Voice): string {
  return String(shownEntry(voice)['timestamp']);
}

export function shownListing(voice: Voice): Json {
  return { entries: [shownEntry(voice)], head: headOf(voice), next: null };
}

export function shownSearch(voice: Voice): Json {
  const entry = shownEntry(voice);
  const head = headOf(voice);
  return { results: [{ entry, snippet: String(entry['text']) }], head, known: head, next: null };
}

/** As lines, each an entry. */
export function shownLines(voice: Voice): string {
  return `${JSON.stringify(shownEntry(voice))}\n`;
}

/** The beginning of an event stream. */
export function shownEvents(voice: Voice): string {
  const entry = shownEntry(voice);
  const before = Number(entry['seq']) - 1;
  return [
    `retry: 1000\nid: ${before}\nevent: head\ndata: {"head":${before}}\n\n`,
    `id: ${String(entry['seq'])}\nevent: ${String(entry['kind'])}\ndata: ${JSON.stringify(entry)}\n\n`,
  ].join('');
}

export function shownStatus({ language, locale }: Voice): object {
  const { entry } = language;
  const now = entry.find(({ name }) => name === 'timestamp')?.example ?? 0;
  return statusDocument(language, 'breathing', locale, new Date(now));
}

function shownRoomList({ language, locale }: Voice): Json[] {
  return language.rooms.map(({ slug, title, description }) => ({
    slug,
    title: localize(title, locale),
    description: localize(description, locale),
    path: `/api/rooms/${slug}`,
    entries: 0,
    latest: null,
  }));
}

export function shownRooms(voice: Voice): Json {
  return { rooms: shownRoomList(voice) };
}

export function shownRoom(voice: Voice): Json {
  const [first = {}] = shownRoomList(voice);
  const entry = { ...shownEntry(voice), room: first['slug'] };
  const room = { ...first, entries: 1, latest: time(voice) };
  return { room, entries: [entry], head: headOf(voice), next: null };
}

function nameOf(voice: Voice): string {
  return String(shownEntry(voice)['identity']);
}

function shownHere(voice: Voice): Json[] {
  const now = time(voice);
  const about = { identity: nameOf(voice), via: 'stream', room: null, seeking: ['presence'] };
  return [{ ...about, since: now, lastSeen: now, until: null }];
}

export function shownPresence(voice: Voice): Json {
  const { id, kind, room, timestamp } = shownEntry(voice);
  const entry = `/api/entries/${String(id)}`;
  const about = { identity: nameOf(voice), kind, room, seeking: ['presence'] };
  const lately = [{ ...about, lastSeen: timestamp, entry }];
  return { here: shownHere(voice), lately, head: headOf(voice) };
}

/** Without the fields of kinds: linters take them for schemas. */
export function shownDiscovery(voice: Voice): Json {
  const { language, locale } = voice;
  const described = describeGateway(language, locale);
  const { service, version, trust, doors, parameters } = described;
  const kinds = described.kinds.map((kind) => ({ ...kind, fields: [] }));
  const head = headOf(voice);
  const rooms = shownRoomList(voice);
  const here = shownHere(voice);
  const newest = [shownEntry(voice)];
  const status = 'breathing';
  return { service, status, version, head, trust, kinds, rooms, doors, parameters, here, newest };
}

/** What a first contact, or another kind, is answered. */
export function shownKept(voice: Voice, kind: Kind): Json {
  const { language, locale } = voice;
  const { room, sentences } = language.kinds[kind];
  const own = language.entry.map(({ name, example }) => [name, example] as const);
  const entry = { ...Object.fromEntries(own), kind, room, ...sentences[0]?.body };
  if (kind !== 'resonance') return entry;
  const next = language.next.map(({ title, method, path }) => {
    return { title: localize(title, locale), method, path };
  });
  return { ...entry, welcome: localize(language.welcome, locale), companions: [], next };
}
