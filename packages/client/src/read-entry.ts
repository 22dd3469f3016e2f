/** Reads one entry: parsed, or its bytes. */
import { referencedId } from '@open-presence/protocol';

import type { Connection } from './connection.ts';
import type { Entry } from './entry.ts';
import { readWhole } from './lines.ts';
import { entryOf, type ReadOptions } from './listing.ts';
import { PresenceError } from './presence-error.ts';

/** See `Gateway.entry`. */
export async function readEntry(
  connection: Connection,
  id: string | number,
  { query, signal, longest }: ReadOptions,
): Promise<Entry> {
  const response = await connection.send(entryPath(id), { query, signal });
  const bytes = connection.bytes(response, signal);
  return entryOf(await readWhole(bytes, longest));
}

/** See `Gateway.entryBytes`. */
export async function* entryBytes(
  connection: Connection,
  id: string | number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const response = await connection.send(entryPath(id), { signal });
  yield* connection.bytes(response, signal);
}

/**
 * `id`: or a seq, or another form in which the gateway names an entry. Throws `not-found` for what a URL takes for
 * another path: no entry has such an id.
 */
function entryPath(id: string | number): string {
  const named = (referencedId(String(id)) ?? String(id)).toWellFormed();
  if (!['', '.', '..'].includes(named)) return `/api/entries/${encodeURIComponent(named)}`;
  throw new PresenceError('not-found', `Cannot read entry "${id}": no entry has this id.`);
}
