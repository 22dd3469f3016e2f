/** Finding one entry by its id. */
import { GatewayError, quoted, seqOfId } from '@open-presence/protocol';

import type { Entry, Log } from '../log/log.ts';

/** Ignores the case of the id. Throws `not-found`. */
export async function findEntry(log: Log, id: string): Promise<Entry> {
  const seq = seqOfId(id);
  const entry = seq === undefined ? undefined : await log.entry(seq);
  if (entry?.stamp.id === id.toLowerCase()) return entry;
  const detail = `Cannot read entry ${quoted(id)}: no entry has this id. Every entry has its own as "id".`;
  throw new GatewayError('not-found', detail);
}
