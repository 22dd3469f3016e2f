/** The texts that a feed shows of a large entry, read from its first bytes. */
import { FILTER_MEMBERS, visitorName } from '@open-presence/protocol';

import type { JsonObject } from '../../json/json-object.ts';
import { MemberPreview } from '../../json/member-preview.ts';
import { JsonScanner } from '../../json/scanner.ts';
import type { Entry } from '../../log/log.ts';

/** Bytes of an entry that are read at most: the identity often stands behind a long text. */
const MAX_READ_SIZE = 1024 * 1024;
/** UTF-16 code units that are shown of each text. */
const MAX_LENGTH = 1000;

const MEMBERS: ReadonlySet<string> = new Set(['text', ...FILTER_MEMBERS.identity]);

/** The start of each member that a feed shows. */
export async function textPreviewOf(entry: Entry): Promise<JsonObject> {
  const preview = new MemberPreview(MEMBERS, MAX_LENGTH);
  const scanner = new JsonScanner(preview);
  let size = 0;
  for await (const chunk of entry.chunks()) {
    scanner.feed(chunk.subarray(0, MAX_READ_SIZE - size));
    size += chunk.length;
    if (size >= MAX_READ_SIZE || isComplete(preview)) break;
  }
  return Object.fromEntries(preview.read());
}

function isComplete(preview: MemberPreview): boolean {
  return preview.has('text') && FILTER_MEMBERS.identity.some((name) => preview.has(name));
}

/** The first name that an entry gives to its author. */
export function authorIn(members: JsonObject): string | undefined {
  return FILTER_MEMBERS.identity
    .map((name) => visitorName(members[name]))
    .find((name) => name !== undefined);
}
