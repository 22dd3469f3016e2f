/**
 * The form in which an entry stands beside others (PROTOCOL.md section 4.8).
 *
 * Invariant: Common JSON readers can read every answer that has several entries. An entry that is
 *   asked for alone is exact.
 * Test: `test/readers/readers.test.ts` “the official MCP clients read and search what common
 *   readers refuse”
 * Test: `packages/gateway/src/json/portable-spelling.test.ts` “halves are replaced as toWellFormed()
 *   does, and line ends are escaped, however the text is cut”
 * Test: `test/mirror/mirror.test.ts` “gives entries that common readers refuse in the same form as
 *   its origin”
 * Test: `test/backup/backup.test.ts` “and an export keep the form in which entries stand beside
 *   others”
 */
import type { Entry } from '../log/log.ts';
import { entryOutline, type Portability } from '../log/portability.ts';
import type { EntryMetadata } from '@open-presence/protocol';

import { PortableSpelling, respelled } from './portable-spelling.ts';

/** The portable form of an entry, made from its exact text. */
export function portableText(
  text: Buffer,
  {
    portability,
    metadata,
  }: { readonly portability: Portability; readonly metadata: EntryMetadata },
): Buffer {
  if (portability === 'exact') return text;
  if (portability === 'respelled') return respelled(text);
  return Buffer.from(entryOutline(metadata, text.length));
}

/** Of an entry in a file, the size stays that of the exact text. */
export function portableEntry(exact: Entry): Entry {
  const { metadata, size, portability } = exact;
  if (portability === undefined) return exact;
  if (exact.text === undefined && portability === 'respelled')
    return { ...exact, chunks: (from = 0) => respelledChunks(exact.chunks(), from) };
  const text =
    exact.text === undefined
      ? Buffer.from(entryOutline(metadata, size))
      : portableText(Buffer.from(exact.text), { portability, metadata });
  return { ...exact, ...inMemory(text) };
}

/** What an entry has whose text is in memory. */
export function inMemory(text: Uint8Array): Pick<Entry, 'size' | 'text' | 'chunks'> {
  return {
    size: text.length,
    text,
    async *chunks(from = 0): AsyncGenerator<Uint8Array> {
      if (from < text.length) yield text.subarray(from);
    },
  };
}

/** Reads from the start, since only from there is it known where an escape begins. */
async function* respelledChunks(
  chunks: AsyncIterable<Uint8Array>,
  from: number,
): AsyncGenerator<Uint8Array> {
  const spelling = new PortableSpelling();
  let skipped = 0;
  for await (const chunk of chunks) {
    const replaced = spelling.replace(chunk);
    const start = Math.min(from - skipped, replaced.length);
    skipped += start;
    if (start < replaced.length) yield replaced.subarray(start);
  }
}
