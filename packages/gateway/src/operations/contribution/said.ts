/** What an entry says in short: who says it, to whom, and the beginning of the text. */
import { OWN_MEMBERS } from '@open-presence/protocol';

import { toJsonObject, type JsonObject } from '../../json/json-object.ts';
import type { Entry, Log, Seq } from '../../log/log.ts';
import { readEntryText, withText } from '../find-entry.ts';
import { authorsIn, previewOf, startOfMembers } from '../text-preview.ts';

/** Larger entries, in bytes, are read at their start and their end. */
const MAX_WHOLE_SIZE = 64 * 1024;
/** Characters that are read of each of its members at least, so that names can be compared. */
const MIN_PREVIEW = 1024;
/** Characters of a name, and how many names. */
const MAX_NAME = 200;
const MAX_NAMES = 8;

export interface Said {
  readonly id: string;
  readonly seq: Seq;
  readonly kind: string;
  readonly room: string;
  readonly timestamp: string;
  /** Under which it was said, whole. */
  readonly names: readonly string[];
  /** All names, whole. */
  readonly to: readonly string[];
  readonly seeking: readonly string[];
  /** In one line, cut between words. */
  readonly text: string;
  /** The id of the entry that it answers. */
  readonly answered: string | undefined;
}

const MEMBERS = ['text', 'to', 'seeking'];
const OWN: ReadonlySet<string> = new Set(OWN_MEMBERS);

/** `maxLength`: of the text, in characters. */
export async function said(
  log: Pick<Log, 'entry'>,
  entry: Entry,
  maxLength: number,
): Promise<Said> {
  const { id, seq, kind, room, time } = entry.metadata;
  const members = await membersOf(await withText(log, entry), maxLength);
  const { text, to, seeking } = members;
  const words = typeof text === 'string' ? text : otherWords(members);
  return {
    id,
    seq,
    kind,
    room,
    timestamp: new Date(time).toISOString(),
    names: authorsIn(members).map((name) => name.toWellFormed()),
    to: stringsIn(to),
    seeking: shortNames(stringsIn(seeking)),
    text: excerpt(words, maxLength),
    answered: entry.answered,
  };
}

async function membersOf(entry: Entry, maxLength: number): Promise<JsonObject> {
  const { size, withheld, portability } = entry;
  if (withheld !== undefined) return { text: `[withheld: ${withheld.reason}]` };
  // An omitted one may have any depth.
  if (size > MAX_WHOLE_SIZE || portability === 'omitted') {
    const preview = await previewOf(entry, MEMBERS, Math.max(2 * maxLength, MIN_PREVIEW));
    const { text, seeking } = preview;
    if (typeof text === 'string' || Array.isArray(seeking)) return preview;
    return { ...preview, text: await startOfMembers(entry, 2 * maxLength) };
  }
  return toJsonObject(JSON.parse(await readEntryText(entry)));
}

function stringsIn(value: unknown): string[] {
  return [value].flat().filter((name) => typeof name === 'string');
}

/** A name of usual length as it is, since it is matched exactly. */
export function shortName(name: string | undefined): string | undefined {
  return name === undefined || name.length <= MAX_NAME ? name : excerpt(name, MAX_NAME);
}

/** The first of them, each in short. */
export function shortNames(names: readonly string[]): string[] {
  return names.slice(0, MAX_NAMES).map((name) => excerpt(name, MAX_NAME));
}

/** Of an entry without a text: what it seeks, or all of its members. */
function otherWords(members: JsonObject): string {
  const { seeking } = members;
  if (Array.isArray(seeking)) return seeking.slice(0, MAX_NAMES).join(', ');
  const free = Object.entries(members).filter(([name]) => !OWN.has(name));
  return JSON.stringify(Object.fromEntries(free));
}

/** One line, cut at a space near its end, or between two characters where there is none. */
function excerpt(text: string, maxLength: number): string {
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= maxLength && text.length <= 4 * maxLength) return line.toWellFormed();
  const cut = line.slice(0, maxLength);
  const space = cut.lastIndexOf(' ');
  const end = space > maxLength / 2 ? space : cut.length;
  return `${cut
    .slice(0, end)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed()}…`;
}
