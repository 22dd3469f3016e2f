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
  { query, signal, ...parsing }: ReadOptions,
): Promise<Entry> {
  const response = await connection.send(entryPath(id), { query, signal });
  const bytes = connection.bytes(response, signal);
  return entryOf(await readWhole(bytes, parsing.longest), parsing);
}

/** See `Gateway.entryBytes`. */
export async function* entryBytes(
  connection: Connection,
  id: string | number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const path = entryPath(id);
  const backoff = connection.backoff(signal);
  let tag: string | null = null;
  for (let from = 0; ;) {
    try {
      // Ranges are of the uncompressed entry (PROTOCOL.md section 9).
      const headers = { Range: `bytes=${from}-`, ...(tag === null ? {} : { 'If-Range': tag }) };
      const response = await connection.send(path, { headers, signal });
      if (from > 0 && response.status !== 206) throw changed(id);
      tag = response.headers.get('etag');
      for await (const chunk of connection.bytes(response, signal)) {
        from += chunk.length;
        backoff.reset();
        yield chunk;
      }
      return;
    } catch (error) {
      if (from === 0) throw error;
      await backoff.pause(error);
    }
  }
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

function changed(id: string | number): PresenceError {
  const message = `The entry ${id} has changed while it was read: read it again from its beginning.`;
  return new PresenceError('unexpected-answer', message);
}
