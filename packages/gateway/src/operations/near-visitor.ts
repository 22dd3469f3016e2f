/**
 * Names that differ from those of known visitors only as people and programs spell them differently: by case,
 * composition, spaces, "-" and "_" (PROTOCOL.md section 13.7). What is addressed to such a name is found by nobody.
 */
import { quoted, visitorName } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Log } from '../log/log.ts';
import { identitiesOf, readMembers } from '../presence/read-members.ts';
import type { OperationsContext } from './context.ts';

export type VisitorsContext = Pick<OperationsContext, 'log' | 'presence' | 'recentAuthors'>;

/** Longer names have no notes, and neither have further names of one request. */
const MAX_NAME = 200;
const MAX_NAMES = 8;
const MAX_REMEMBERED = 4096;

/** Names under which something was said: whoever is addressed once is addressed again. */
const heard = new WeakMap<Log, Set<string>>();

/** Whether it is known, without looking, that each of these names needs no note. */
export function areHeard(log: Log, names: readonly string[]): boolean {
  const known = heard.get(log);
  return names.every((name) => known?.has(name) === true);
}

/** Whom a request asks for. */
export function namesAsked(parameters: URLSearchParams): string[] {
  return ['identity', 'to', 'concerns'].flatMap((name) => parameters.getAll(name));
}

/** Sentences about names that nobody has, where somebody has nearly the same. */
export async function notesOnNames(
  app: VisitorsContext,
  names: readonly string[],
): Promise<string[]> {
  const asked = new Set(names.filter((name) => name.length <= MAX_NAME && visitorName(name)));
  const notes: string[] = [];
  for (const name of [...asked].slice(0, MAX_NAMES)) {
    const near = await nearVisitor(app, name.toWellFormed());
    if (near !== undefined) notes.push(noteOn(name, near));
  }
  return notes;
}

function noteOn(name: string, near: string): string {
  return `Nothing was said under the name ${quoted(name)} yet, but ${quoted(near)} is known. Names match letter by letter: by case, by spaces, "-" and "_", and as they are composed (NFC, NFD).`;
}

/** Undefined if somebody has exactly this name, or if nobody has nearly the same. */
async function nearVisitor(
  { log, presence, recentAuthors }: VisitorsContext,
  name: string,
): Promise<string | undefined> {
  if (areHeard(log, [name])) return undefined;
  if ((await newestAuthor(log, [name])) !== undefined) {
    remember(log, name);
    return undefined;
  }
  const known = folded(name);
  const isNear = (other: string): boolean =>
    other !== name && folded(other) === known && !presence.isHidden(other);
  const spellings = spellingsOf(name);
  const { authors } = await recentAuthors.snapshot();
  return (
    authors.find(({ identity }) => isNear(identity))?.identity ??
    (await newestAuthor(log, spellings))?.find(isNear) ??
    spellings.find((spelling) => isNear(spelling) && presence.has(spelling))
  );
}

function remember(log: Log, name: string): void {
  const known = heard.get(log) ?? new Set();
  heard.set(log, known);
  if (known.size === MAX_REMEMBERED) known.clear();
  known.add(name);
}

/** The names under which the newest entry by one of these was said. */
async function newestAuthor(log: Log, names: readonly string[]): Promise<string[] | undefined> {
  const facets = [names.map((name) => facet('identity', name))];
  for await (const entry of log.readEntries({ facets, order: 'newest', limit: 1 }))
    return [...identitiesOf(await readMembers(entry))];
  return undefined;
}

const SEPARATORS = /[\s_-]+/;

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase().split(SEPARATORS).join('');
}

/** The usual ones: an index finds names letter by letter. */
function spellingsOf(name: string): string[] {
  const words = name
    .normalize('NFC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .split(SEPARATORS)
    .filter((word) => word !== '');
  const lower = words.map((word) => word.toLowerCase());
  const capital = lower.map((word) => word.replace(/^./u, (first) => first.toUpperCase()));
  const cases = [words, lower, capital, words.map((word) => word.toUpperCase())];
  const spelled = ['', ' ', '-', '_'].flatMap((separator) =>
    cases.map((one) => one.join(separator)),
  );
  return [...new Set([...spelled, ...spelled.map((one) => one.normalize('NFD'))])];
}
