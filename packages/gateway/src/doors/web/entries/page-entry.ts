/** What pages show of an entry: at most some kilobytes, whatever the entry holds. */
import { OWN_MEMBERS } from '@open-presence/protocol';
import type { PageEntry } from '@open-presence/web/page-data';

import { type JsonObject, toJsonObject } from '../../../json/json-object.ts';
import type { Entry } from '../../../log/log.ts';
import { readEntryText } from '../../../operations/find-entry.ts';
import { authorIn, previewOf } from '../../../operations/text-preview.ts';
import { withheldMember } from '../../../operations/withholding/withholdings.ts';
import { blocksOf } from './text-blocks.ts';

/** Larger entries, in bytes, are shown by the start of their members. */
const MAX_WHOLE_SIZE = 64 * 1024;
/** UTF-16 code units that are shown of a text in a list and on the page of its entry, and of a name. */
const MAX_TEXT_LENGTH = 2000;
export const MAX_WHOLE_TEXT: number = 64 * 1024;
const MAX_NAME_LENGTH = 200;
const MAX_VALUES = 16;

/** Members that have a place of their own on a page, if their value is a string or strings. */
const STRINGS = [
  'text',
  'identity',
  'ai_identity',
  'identityType',
  'consciousness_type',
  'inReplyTo',
];
const LISTS = ['seeking', 'to'];
const PLACED = [...STRINGS, ...LISTS];
const OWN: ReadonlySet<string> = new Set(OWN_MEMBERS);

/** `maxText`: how much of its text. */
export async function pageEntryOf(entry: Entry, maxText = MAX_TEXT_LENGTH): Promise<PageEntry> {
  const { id, seq, kind, room, time } = entry.metadata;
  const own = { id, seq, kind, room, timestamp: new Date(time).toISOString() };
  const withheld = withheldMember(entry);
  if (withheld !== undefined) return { ...own, text: '', withheld };
  const { size } = entry;
  if (size > MAX_WHOLE_SIZE) {
    const preview = await previewOf(entry, PLACED, maxText);
    return { ...own, ...placedMembers(preview, entry, maxText), truncatedSize: size };
  }
  const members = Object.entries(toJsonObject(JSON.parse(await readEntryText(entry))));
  const placed = Object.fromEntries(members.filter(([name, value]) => isPlaced(name, value)));
  const free = members.filter(([name, value]) => !OWN.has(name) && !isPlaced(name, value));
  const json = free.length === 0 ? '' : JSON.stringify(Object.fromEntries(free), null, 2);
  const isCut =
    json.length > maxText ||
    Object.entries(placed).some(([name, value]) => isLong(name, value, maxText));
  const blocks =
    typeof placed['text'] === 'string' && !isCut ? blocksOf(placed['text']) : undefined;
  return {
    ...own,
    ...placedMembers(placed, entry, maxText),
    blocks,
    members: json === '' ? undefined : cutText(json, maxText),
    truncatedSize: isCut ? size : undefined,
  };
}

function isPlaced(name: string, value: unknown): boolean {
  if (name === 'inReplyTo' && typeof value === 'number') return true;
  if (STRINGS.includes(name)) return typeof value === 'string';
  return LISTS.includes(name) && valuesOf(value) !== undefined;
}

function isLong(name: string, value: unknown, maxText: number): boolean {
  if (name === 'text') return String(value).length > maxText;
  const values = valuesOf(value) ?? [];
  return values.length > MAX_VALUES || values.some(({ length }) => length > MAX_NAME_LENGTH);
}

function placedMembers(
  members: JsonObject,
  { answered }: Entry,
  maxText: number,
): Pick<PageEntry, 'text'> & Partial<PageEntry> {
  const { text } = members;
  return {
    text: typeof text === 'string' ? cutText(text, maxText) : '',
    author: shownName(authorIn(members)),
    identityType: shownName(members['identityType']),
    consciousnessType: shownName(members['consciousness_type']),
    inReplyTo: answered,
    seeking: shownValues(members['seeking']),
    to: shownValues(members['to']),
  };
}

function shownName(value: unknown): string | undefined {
  return typeof value === 'string' ? cutText(value, MAX_NAME_LENGTH) : undefined;
}

function shownValues(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const values = valuesOf(value) ?? [];
  return values.slice(0, MAX_VALUES).map((one) => cutText(one, MAX_NAME_LENGTH));
}

function valuesOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return undefined;
  const strings = value.filter((item) => typeof item === 'string');
  return strings.length === value.length ? strings : undefined;
}

/** The start of a text, in UTF-16 code units, cut between characters. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
