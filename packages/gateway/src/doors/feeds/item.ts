/** An entry as a feed shows it: text for people, in which nothing of a visitor's is markup. */
import {
  entryHead,
  FILTER_MEMBERS,
  localize,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';

import type { Entry } from '../../log/log.ts';
import { TITLE_LENGTH, titleExcerpt } from '../../operations/listing-scope.ts';
import { textPreviewOf } from './text-preview.ts';

export interface Item {
  readonly id: string;
  readonly kind: Kind;
  /** Slug. */
  readonly room: string;
  readonly timestamp: string;
  /** Of the entry itself. */
  readonly path: string;
  readonly title: string;
  readonly author: string;
  /** All that the visitor said, or where that is long, its beginning. */
  readonly text: string;
  /** Bytes of the entry, where `text` is only the beginning. */
  readonly long: number | undefined;
}

/** Longer entries are told by their beginning. */
const WHOLE = 64 * 1024;

interface Wording {
  readonly language: Language;
  readonly locale: Locale | undefined;
}

export async function itemOf(entry: Entry, { language, locale }: Wording): Promise<Item> {
  const { id, kind, room, time } = entry.stamp;
  const isLong = entry.size > WHOLE;
  const whole = isLong ? undefined : await textOf(entry);
  const members = whole === undefined ? await textPreviewOf(entry) : membersOf(whole);
  const author = nameIn(members) ?? localize(language.labels.unnamed, locale);
  const said = textIn(members);
  const text = said ?? (whole === undefined ? '' : visitorsPart(entry, whole));
  return {
    id,
    kind,
    room,
    timestamp: new Date(time).toISOString(),
    path: `/api/entries/${id}`,
    title: [
      localize(language.kinds[kind].name, locale),
      titleExcerpt(author),
      titleExcerpt(said ?? soughtIn(members)),
    ]
      .filter((part) => part !== '')
      .join(' · '),
    author,
    text: isLong ? `${text}…` : text,
    long: isLong ? entry.size : undefined,
  };
}

const decoder = new TextDecoder();

/** Not held although it is short: it can be found by many things. */
async function textOf(entry: Entry): Promise<string> {
  const gathered = async (): Promise<Uint8Array> =>
    Buffer.concat(await Array.fromAsync(entry.chunks(), (piece) => Buffer.from(piece)));
  return decoder.decode(entry.text ?? (await gathered()));
}

function membersOf(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The visitor's members, as they were spelled: a comma or nothing parts them from our own. */
function visitorsPart({ stamp }: Entry, text: string): string {
  const rest = text.slice(entryHead(stamp).length);
  return rest === '}' ? '{}' : `{${rest.slice(1)}`;
}

function nameIn(members: Record<string, unknown>): string | undefined {
  const names = FILTER_MEMBERS.identity.map((name) => members[name]);
  return names.filter((name) => typeof name === 'string').find((name) => name.trim() !== '');
}

function textIn({ text }: Record<string, unknown>): string | undefined {
  return typeof text === 'string' ? text : undefined;
}

function soughtIn({ seeking }: Record<string, unknown>): string {
  return Array.isArray(seeking)
    ? seeking
        .slice(0, TITLE_LENGTH)
        .filter((thing) => typeof thing === 'string')
        .join(', ')
    : '';
}
