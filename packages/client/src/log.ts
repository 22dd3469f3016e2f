/**
 * Reads the log of a gateway, and on as it grows (PROTOCOL.md section 20), and what it has withheld (section 4.7).
 * Who stores the lines verifies them.
 */
import type { Checkpoint } from '@open-presence/protocol';

import { type Connection, type Query, type Signal, unexpected } from './connection.ts';
import { parseJson, parseObject } from './entry.ts';
import { readLines, SHORT } from './lines.ts';
import { PresenceError } from './presence-error.ts';
import { Deadline, SILENCE_MS } from './waiting.ts';

/** Which part of a log. */
export interface LogRange extends Signal {
  /** Begins after this entry: 0 by default. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  /** Whether to read the event stream, which goes on with new entries as they are stored, until it breaks. */
  readonly live?: boolean | undefined;
}

/** One removal of an entry's text, or its return. */
export interface Withholding {
  /** Position in the gateway's list, from 1: a cursor. */
  readonly number: number;
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly room: string;
  /** When the entry was stored (RFC 3339), as `at` is when it was withheld. */
  readonly timestamp: string;
  readonly at: string;
  readonly reason: string;
  /** `withheld`: it is destroyed. `hidden`: whoever runs the gateway keeps it. `shown`: it is there again. */
  readonly state?: 'withheld' | 'hidden' | 'shown';
}

export interface WithholdingsOptions extends Signal {
  /** A number: begins after this one. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

/** The bytes of an answer in lines. Throws where it breaks off. */
export async function* lineBytes(
  connection: Connection,
  path: string,
  query: Query,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const headers = { Accept: 'application/x-ndjson' };
  yield* connection.bytes(await connection.send(path, { query, headers, signal }), signal);
}

export async function* readWithholdings(
  connection: Connection,
  { after = 0, limit, signal }: WithholdingsOptions,
): AsyncGenerator<Withholding, void> {
  const query = { order: 'oldest', after, limit };
  for await (const { text } of readLines(
    lineBytes(connection, '/api/withheld', query, signal),
    SHORT,
  )) {
    const found = parseJson(text) as Withholding;
    const isWhole = Number.isSafeInteger(found.number) && Number.isSafeInteger(found.seq);
    if (isWhole && typeof found.reason === 'string' && !Number.isNaN(Date.parse(found.at)))
      yield found;
    else {
      const message = `The answer has a line that is no withholding: ${text.slice(0, 200)}`;
      throw new PresenceError('unexpected-answer', message);
    }
  }
}

/** See `Gateway.logBytes`. */
export async function* logBytes(
  connection: Connection,
  { live = false, signal: outer, ...query }: LogRange,
): AsyncGenerator<Uint8Array, void> {
  if (!live) return yield* lineBytes(connection, '/api/log', query, outer);
  const lost = (reason: string): PresenceError => connection.unreachable(new Error(reason));
  const deadline = new Deadline(outer, SILENCE_MS, () => lost('the stream is silent'));
  const { signal } = deadline;
  try {
    const headers = { Accept: 'text/event-stream' };
    const response = await connection.send('/api/log', { query, headers, signal });
    for await (const chunk of connection.bytes(response, signal)) {
      // Whoever reads may take as long as it likes.
      deadline.stop();
      yield chunk;
      deadline.restart();
    }
    // A gateway that shuts down ends its streams.
    throw lost('the stream has ended');
  } finally {
    deadline.end();
  }
}

/** `at`: the checkpoint after this entry; without it, after the newest one. */
export async function readCheckpoint(
  connection: Connection,
  at: number | undefined,
  present: Query,
  signal: AbortSignal | undefined,
): Promise<Checkpoint> {
  const isNewest = at === undefined;
  const path = isNewest ? '/api/log/head' : '/api/log';
  const query = isNewest ? present : { ...present, after: at, limit: 0 };
  const headers = { Accept: 'application/json' };
  const response = await connection.send(path, { query, headers, signal });
  const text = await connection.text(response, { longest: SHORT, signal });
  const { log, head, link } = (parseObject(text) ?? {}) as Partial<Checkpoint>;
  if (log === undefined || head === undefined || link === undefined)
    throw unexpected(response, 'what is no checkpoint', text);
  return { log, head, link };
}
