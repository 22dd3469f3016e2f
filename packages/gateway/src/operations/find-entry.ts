/** Finding one entry by its id, and reading its text into memory. */
import { GatewayError, namedSeq, quoted, seqOfId } from '@open-presence/protocol';

import type { Entry, Log } from '../log/log.ts';

/** By its id or its seq; in its portable form unless `exact` is asked for. Ignores the case of the id. Throws `not-found`. */
export async function findEntry(log: Log, id: string, form?: 'exact'): Promise<Entry> {
  const entry = await entryWithId(log, id, form);
  if (entry !== undefined) return entry;
  const detail = `Cannot read entry ${quoted(id)}: no entry has this id. Every entry has its own as "id", and its "seq" names it too.`;
  throw new GatewayError('not-found', detail);
}

/** By its id, whose case is ignored, or its seq. Undefined if no entry has it. Throws `unavailable` if that cannot be read. */
export async function entryWithId(
  log: Log,
  id: string,
  form?: 'exact',
): Promise<Entry | undefined> {
  const named = namedSeq(id);
  const seq = named ?? seqOfId(id);
  const entry = seq === undefined ? undefined : await log.entry(seq, form);
  if (entry === undefined && seq !== undefined && seq >= 1 && seq <= log.head()) {
    const detail = `Cannot read entry ${quoted(id)}: the gateway’s disk has lost it.`;
    throw new GatewayError('unavailable', detail);
  }
  const isMeant = named !== undefined || entry?.metadata.id === id.toLowerCase();
  return isMeant ? entry : undefined;
}

/** The exact entry in place of one that its portable form omits, or whose size that form changes: parts of its text can be shown. */
export async function withText(log: Pick<Log, 'entry'>, entry: Entry): Promise<Entry> {
  const isWhole = entry.portability === 'respelled' && entry.text !== undefined;
  if (entry.portability === undefined || isWhole) return entry;
  return (await log.entry(entry.metadata.seq, 'exact')) ?? entry;
}

const decoder = new TextDecoder();

/** The caller bounds the size. A short entry may have no `text` in memory either. */
export async function readEntryText(entry: Entry): Promise<string> {
  if (entry.text !== undefined) return decoder.decode(entry.text);
  const chunks = await Array.fromAsync(entry.chunks(), (chunk) => Buffer.from(chunk));
  return decoder.decode(Buffer.concat(chunks));
}
