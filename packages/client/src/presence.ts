/** Reads who is here (PROTOCOL.md section 13.3). */
import type { LatelyDocument, PresentDocument } from '@open-presence/protocol';

import type { Connection, Query, Signal } from './connection.ts';

/** Who is here, and who wrote within the last hour (PROTOCOL.md section 13.3). */
export interface Presence {
  readonly here: readonly PresentDocument[];
  readonly lately: readonly LatelyDocument[];
  readonly head: number;
  readonly log: string;
}

export interface PresenceFilters extends Signal {
  readonly room?: string | readonly string[] | undefined;
  readonly limit?: number | undefined;
}

export async function readPresence(
  connection: Connection,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<Presence> {
  return await connection.json('/api/presence', { lists: ['here', 'lately'], query, signal });
}
