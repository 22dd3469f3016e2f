/** Reads the log of a gateway in lines, and on as it grows (PROTOCOL.md section 20). Who stores them verifies them. */
import type { Checkpoint } from '@open-presence/protocol';

import type { Connection, Query, Signal } from '../connection.ts';
import { SHORT } from '../lines.ts';
import { PresenceError } from '../presence-error.ts';
import { SilenceTimer } from '../silence-timer.ts';
import { checkpointIn, type LogLine, readLogLines } from './log-lines.ts';

/** Which part of a log. */
export interface LogRange extends Signal {
  /** Begins after this entry: 0 by default. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export interface LogOptions extends LogRange {
  /** Whether to go on with new entries as they are stored, until the signal is aborted. */
  readonly live?: boolean | undefined;
}

/** The bytes of an answer in lines. Throws where it breaks off. */
export async function* lineBytes(
  connection: Connection,
  path: '/api/log' | '/api/entries',
  query: Query,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const headers = { Accept: 'application/x-ndjson' };
  const response = await connection.send(path, { query, headers, signal });
  yield* connection.bytes(response, signal);
}

/** Yields the position after which lines begin, then lines. Throws when the connection breaks. */
export async function* readLog(
  connection: Connection,
  { live = false, ...options }: LogOptions,
): AsyncGenerator<Checkpoint | readonly LogLine[], void> {
  let after = options.after ?? 0;
  for (const isLive of live ? [false, true] : [false]) {
    const silence = new SilenceTimer(options.signal, () =>
      connection.unreachable(new Error('the stream is silent')),
    );
    try {
      const bytes = linesOf(connection, { ...options, after }, isLive, silence);
      const { checkpoint, batches } = await readLogLines(bytes);
      if (!isLive) yield checkpoint;
      for await (const batch of batches) {
        yield batch;
        after = batch.at(-1)?.seq ?? after;
      }
    } finally {
      silence.end();
    }
  }
}

/** `at`: the checkpoint after this entry; without it, after the newest one. */
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
  const headers = { Accept: 'application/json' };
  const response = await connection.send(path, {
    query: { ...query, ...position },
    headers,
    signal,
  });
  const text = await connection.text(response, { longest: SHORT, signal });
  const found = checkpointIn(text);
  if (found !== undefined) return found;
  const message = `${response.url} answered with what is no checkpoint: ${text.slice(0, 200)}`;
  throw new PresenceError('unexpected-answer', message, { status: response.status });
}

/** Of an answer in lines, or of a stream in the same lines. */
async function* linesOf(
  connection: Connection,
  { after, limit }: LogOptions,
  isLive: boolean,
  silence: SilenceTimer,
): AsyncGenerator<Uint8Array, void> {
  const { signal } = silence;
  const query = { after, limit };
  if (!isLive) return yield* lineBytes(connection, '/api/log', query, signal);
  const headers = { Accept: 'text/event-stream' };
  const response = await connection.send('/api/log', { query, headers, signal });
  silence.restart();
  yield* dataLines(connection.bytes(response, signal), silence);
  // A gateway that shuts down ends its streams.
  throw connection.unreachable(new Error('the stream has ended'));
}

const LF = 0x0a;
const DATA = new TextEncoder().encode('data: ');

/** Makes of an event stream the lines that its data are, in flat memory (PROTOCOL.md section 20.3). */
async function* dataLines(
  stream: AsyncIterable<Uint8Array>,
  silence: SilenceTimer,
): AsyncGenerator<Uint8Array, void> {
  /** How much of a line's beginning was `data: ` so far; -1 in a line that begins otherwise. */
  let matched = 0;
  for await (const chunk of stream) {
    // Whoever reads may take as long as it likes.
    silence.stop();
    for (let at = 0; at < chunk.length;) {
      if (matched >= 0 && matched < DATA.length) {
        const isData = chunk[at] === DATA[matched];
        if (!isData) matched = chunk[at] === LF ? 0 : -1;
        else matched += 1;
        at += 1;
        continue;
      }
      const newline = chunk.indexOf(LF, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      if (matched === DATA.length && end > at) yield chunk.subarray(at, end);
      if (newline !== -1) matched = 0;
      at = end;
    }
    silence.restart();
  }
}
