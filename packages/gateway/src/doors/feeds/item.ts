/** A page of a feed, and an entry as an item of it: plain text for people. */
import {
  entryHead,
  entryPagePath,
  entryPath,
  type Kind,
  type OwnMembers,
  visitorPagePath,
} from '@open-presence/protocol';

import type { Localization } from '../../http/route-description.ts';
import { toJsonObject, type JsonObject } from '../../json/json-object.ts';
import { portableText } from '../../json/portable-entry.ts';
import type { Entry, Withholding } from '../../log/log.ts';
import { readEntryText } from '../../operations/find-entry.ts';
import { TITLE_LENGTH, titleExcerpt } from '../../operations/listing-scope.ts';
import { authorIn, previewOf, startOfMembers } from '../../operations/text-preview.ts';

export interface Item extends Omit<OwnMembers, 'seq'> {
  /** The path of the entry as JSON, and of the page that shows it. */
  readonly path: string;
  readonly page: string;
  readonly title: string;
  readonly author: string;
  /** The path of the page of the author's name; missing without a name. */
  readonly authorPage?: string;
  /** The visitor's text, or the start of a long one. */
  readonly text: string;
  /** Where what was said was taken away: when, and why. `text` says so too. */
  readonly withheld?: { readonly at: string; readonly reason: string };
  /** The size of the entry in bytes, where `text` is only its start. */
  readonly truncatedSize: number | undefined;
}

/** Paths with queries. */
interface PageLinks {
  /** The addresses of this page and of the first page. */
  readonly self: string;
  readonly first: string;
  /** Lists the same entries as JSON, or leads to it. */
  readonly listing: string;
}

export interface Page extends Localization {
  /** The gateway's address, for absolute links. */
  readonly base: string;
  /** Identifies the feed: the same on each of its pages and at any address. */
  readonly id: string;
  readonly title: string;
  readonly links: PageLinks;
  /** Path and query of the next page. */
  readonly next: string | null;
  /** The path of the page that shows them. */
  readonly page: string;
  /** ISO 8601 time when the newest entry of the feed was stored. */
  readonly updated: string;
  readonly items: readonly Item[];
}

/** Larger entries, in bytes, are shown by the start of their text. */
const MAX_WHOLE_SIZE = 64 * 1024;
/** UTF-16 code units that are shown of each text of those. */
const MAX_PREVIEW_LENGTH = 1000;
const MAX_NAME_LENGTH = 200;

export async function itemOf(entry: Entry, localization: Localization): Promise<Item> {
  const { metadata, withheld } = entry;
  const { id, kind, room, time } = metadata;
  const own = { id, kind, room, timestamp: new Date(time).toISOString() };
  const paths = { path: entryPath(id), page: entryPagePath(id) };
  const told =
    withheld === undefined
      ? await saidIn(entry, localization)
      : withheldText(kind, withheld, localization);
  return { ...own, ...paths, ...told };
}

type ItemText = Pick<
  Item,
  'title' | 'author' | 'authorPage' | 'text' | 'withheld' | 'truncatedSize'
>;

async function saidIn(
  entry: Entry,
  { language, text: localized }: Localization,
): Promise<ItemText> {
  const { labels, kinds } = language;
  const json = entry.size > MAX_WHOLE_SIZE ? undefined : await readEntryText(entry);
  const members =
    json === undefined
      ? await previewOf(entry, ['text'], MAX_PREVIEW_LENGTH)
      : toJsonObject(JSON.parse(json));
  const name = authorIn(members);
  const author = (name ?? localized(labels.unnamed)).replace(/\s+/g, ' ');
  const text = typeof members['text'] === 'string' ? members['text'] : undefined;
  const content =
    text ??
    (json === undefined
      ? await startOfMembers(entry, MAX_PREVIEW_LENGTH)
      : visitorMembers(entry, json));
  const title = [
    localized(kinds[entry.metadata.kind].name),
    titleExcerpt(author),
    titleExcerpt(text ?? seekingIn(members)),
  ];
  return {
    title: title.filter((part) => part !== '').join(' · '),
    author,
    ...(name === undefined ? {} : { authorPage: authorPageOf(name, entry.metadata.id) }),
    text: json === undefined ? `${content}…` : content,
    truncatedSize: json === undefined ? entry.size : undefined,
  };
}

/** The address of a long name would be as long: the entry leads there instead. */
function authorPageOf(name: string, id: string): string {
  return name.length < MAX_NAME_LENGTH ? visitorPagePath(name) : `/entries/${id}`;
}

function withheldText(
  kind: Kind,
  { time, reason }: Pick<Withholding, 'time' | 'reason'>,
  { language: { labels, kinds }, text }: Localization,
): ItemText {
  return {
    title: text(kinds[kind].name),
    author: text(labels.unnamed),
    text: `${text(labels.withheld)}: ${reason}`,
    withheld: { at: new Date(time).toISOString(), reason },
    truncatedSize: undefined,
  };
}

/** The visitor's members in their portable form. After the gateway's members comes a comma or `}`. */
function visitorMembers(entry: Entry, json: string): string {
  const { metadata, portability = 'exact' as const } = entry;
  const portable = portableText(Buffer.from(json), { portability, metadata }).toString();
  const rest = portable.slice(entryHead(metadata).length);
  return rest === '}' ? '{}' : `{${rest.slice(1)}`;
}

function seekingIn({ seeking }: JsonObject): string {
  return Array.isArray(seeking)
    ? seeking
        .slice(0, TITLE_LENGTH)
        .filter((value) => typeof value === 'string')
        .join(', ')
    : '';
}
