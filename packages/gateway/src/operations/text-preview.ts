/** The texts that feeds and pages show of a large entry, read from its first bytes. */
import { FILTER_MEMBERS, visitorName } from '@open-presence/protocol';

import type { JsonObject } from '../json/json-object.ts';
import { MemberPreview } from '../json/member-preview.ts';
import { JsonScanner } from '../json/scanner.ts';
import type { Entry } from '../log/log.ts';

/** Bytes of an entry that are read at most: the identity often stands behind a long text. */
const MAX_READ_SIZE = 1024 * 1024;

const TEXT_AND_AUTHOR: readonly string[] = ['text', ...FILTER_MEMBERS.identity];

/** The start of the entry's text and of its author's name, in at most `maxLength` UTF-16 code units. */
export async function textPreviewOf(entry: Entry, maxLength: number): Promise<JsonObject> {
  return await previewOf(entry, TEXT_AND_AUTHOR, maxLength, (found) => {
    return found.has('text') && FILTER_MEMBERS.identity.some((name) => found.has(name));
  });
}

/** The start of those string members with these names that stand in the first part of the entry. */
export async function membersPreviewOf(
  entry: Entry,
  names: readonly string[],
  maxLength: number,
): Promise<JsonObject> {
  return await previewOf(entry, names, maxLength, (found) =>
    names.every((name) => found.has(name)),
  );
}

async function previewOf(
  entry: Entry,
  names: readonly string[],
  maxLength: number,
  isComplete: (preview: MemberPreview) => boolean,
): Promise<JsonObject> {
  const preview = new MemberPreview(new Set(names), maxLength);
  const scanner = new JsonScanner(preview);
  let size = 0;
  for await (const chunk of entry.chunks()) {
    scanner.feed(chunk.subarray(0, MAX_READ_SIZE - size));
    size += chunk.length;
    if (size >= MAX_READ_SIZE || isComplete(preview)) break;
  }
  return Object.fromEntries(preview.read());
}

/** The first name that an entry gives to its author. */
export function authorIn(members: JsonObject): string | undefined {
  return FILTER_MEMBERS.identity
    .map((name) => visitorName(members[name]))
    .find((name) => name !== undefined);
}
