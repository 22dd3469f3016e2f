/** Reads where the log of a gateway is (PROTOCOL.md section 20). */
import type { Checkpoint } from '@open-presence/protocol';

import type { Connection, Query } from '../connection.ts';
import { SHORT } from '../lines.ts';
import { PresenceError } from '../presence-error.ts';
import { checkpointIn } from './log-lines.ts';

/** `at`: the entry behind which it was; where the log is now, without it. */
export async function readCheckpoint(
  connection: Connection,
  at: number | undefined,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<Checkpoint> {
  const { path, position } =
    at === undefined
      ? { path: '/api/log/head', position: {} }
      : { path: '/api/log', position: { after: at, limit: 0 } };
  const response = await connection.send(path, {
    query: { ...query, ...position },
    headers: { Accept: 'application/json' },
    signal,
  });
  const text = await connection.text(response, { longest: SHORT, signal });
  const found = checkpointIn(text);
  if (found !== undefined) return found;
  const message = `${response.url} answered with what is no checkpoint: ${text.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message, { status: response.status });
}
