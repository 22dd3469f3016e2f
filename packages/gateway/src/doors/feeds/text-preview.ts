/** The texts by which a long entry is shown in a feed, read from its first bytes. */
import { FILTER_MEMBERS } from '@open-presence/protocol';

import { MemberPreview } from '../../json/member-preview.ts';
import { JsonScanner } from '../../json/scanner.ts';
import type { Entry } from '../../log/log.ts';

/** Bytes that are read at most: a name often stands behind a long text. */
const READ = 1024 * 1024;
/** Characters that are kept of each text. */
const KEPT = 1000;

const SHOWN: ReadonlySet<string> = new Set(['text', ...FILTER_MEMBERS.identity]);

/** The members by which an entry is shown, each cut to its first characters. */
export async function textPreviewOf(entry: Entry): Promise<Record<string, unknown>> {
  const preview = new MemberPreview(SHOWN, KEPT);
  const scanner = new JsonScanner(preview);
  let read = 0;
  for await (const piece of entry.chunks()) {
    scanner.feed(piece.subarray(0, READ - read));
    read += piece.length;
    if (read >= READ || isEnough(preview)) break;
  }
  return Object.fromEntries(preview.read());
}

function isEnough(preview: MemberPreview): boolean {
  return preview.has('text') && FILTER_MEMBERS.identity.some((name) => preview.has(name));
}
