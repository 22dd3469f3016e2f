/** Reads and verifies the log of a gateway over any number of connections (PROTOCOL.md section 20). */
import type { Checkpoint } from '@open-presence/protocol';

import type { Connection, Query, Signal } from '../connection.ts';
import { type Entry, parseEntry, shortenedEntry } from '../entry.ts';
import { SHORT } from '../lines.ts';
import type { ParseOptions } from '../listing.ts';
import { PresenceError } from '../presence-error.ts';
import { SilenceTimer } from '../silence-timer.ts';
import { ChainVerifier } from './chain-verifier.ts';
import { checkpointIn, type LogLine, readLogLines } from './log-lines.ts';

export interface LogOptions extends Signal {
  /** A checkpoint that was kept: begins after it, if the log still has the same link there. */
  readonly from?: Checkpoint | undefined;
  /** A cursor: begins after this entry. 0 by default. Has no effect beside `from`. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  /** Whether to go on with new entries as they are stored, until the signal is aborted. */
  readonly live?: boolean | undefined;
}

/** An entry of a log, verified by its link. */
export interface LoggedEntry {
  readonly link: string;
  readonly salt: string | undefined;
  readonly digest: string | undefined;
  readonly key: string | undefined;
  /** Shortened if it is longer than `longest` (see `Gateway`). */
  readonly entry: Entry;
}

/**
 * Yields lines that are verified, and a long one before that (see `ChainVerifier`). A broken
 * connection is resumed after the last verified line, where a long line may come again. Returns the
 * position after the last one. Throws at once if the first request is not answered; `other-log` if
 * `from` is of another log; `broken-chain` if the log has another link there, or ends before it.
 */
export async function* readLog(
  connection: Connection,
  { limit, ...options }: LogOptions,
  query: Query,
): AsyncGenerator<readonly LogLine[], Checkpoint> {
  const { from, after = 0, live = false, signal } = options;
  const backoff = connection.backoff(signal);
  const end = (from?.head ?? after) + (limit ?? Number.POSITIVE_INFINITY);
  let verifier = from && new ChainVerifier(from);
  let isLive = false;
  for (let hasStarted = false; ;) {
    const request = new LogRequest(connection, signal, () => backoff.reset());
    let failure: unknown;
    try {
      const head = verifier?.checkpoint.head ?? after;
      const wanted = {
        ...query,
        after: head,
        ...(limit === undefined ? {} : { limit: end - head }),
      };
      const { checkpoint, batches } = await readLogLines(request.bytes(wanted, isLive));
      verifier = verifierFrom(verifier, checkpoint);
      hasStarted = true;
      for await (const batch of verifier.verify(batches)) {
        backoff.reset();
        yield batch;
      }
      if (verifier.checkpoint.head === end || !live) return verifier.checkpoint;
      if (isLive) throw connection.unreachable(new Error('the stream has ended'));
      // A stream is not compressed: what was there already comes as an answer.
      isLive = true;
    } catch (error) {
      failure = describeLostEntries(error, verifier?.checkpoint);
      if (!hasStarted) throw failure;
      isLive = false;
    } finally {
      request.end();
    }
    if (failure !== undefined) await backoff.pause(failure);
  }
}

/** The same, parsed. */
export async function* readEntries(
  lines: AsyncGenerator<readonly LogLine[], Checkpoint>,
  parsing: ParseOptions,
): AsyncGenerator<LoggedEntry, Checkpoint> {
  const source: AsyncIterator<unknown> = lines;
  try {
    for (let step = await lines.next(); ; step = await lines.next()) {
      if (step.done === true) return step.value;
      for (const line of step.value) {
        const { link, salt, digest, key } = line;
        yield { link, salt, digest, key, entry: await entryOf(line, parsing) };
      }
    }
  } finally {
    await source.return?.();
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

class LogRequest {
  readonly #connection: Connection;
  readonly #silence: SilenceTimer;
  readonly #onAlive: () => void;

  /** `onAlive`: called for what comes after the beginning of a stream, such as the comments of a quiet one. */
  constructor(connection: Connection, signal: AbortSignal | undefined, onAlive: () => void) {
    this.#connection = connection;
    this.#onAlive = onAlive;
    this.#silence = new SilenceTimer(signal, () =>
      connection.unreachable(new Error('the stream is silent')),
    );
  }

  /** Of an answer in lines, or of a stream in the same lines. */
  async *bytes(query: Query, isLive: boolean): AsyncGenerator<Uint8Array, void> {
    const { signal } = this.#silence;
    const headers = { Accept: isLive ? 'text/event-stream' : 'application/x-ndjson' };
    const response = await this.#connection.send('/api/log', { query, headers, signal });
    const bytes = this.#connection.bytes(response, signal);
    yield* this.#wholeLines(isLive ? dataLines(this.#watched(bytes)) : bytes);
  }

  /** Some proxies end an answer as if it were whole where it broke off. */
  async *#wholeLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    let hasLines = false;
    let last = LF;
    for await (const chunk of bytes) {
      hasLines ||= chunk.includes(LF);
      last = chunk.at(-1) ?? last;
      yield chunk;
    }
    if (hasLines && last !== LF)
      throw this.#connection.unreachable(new Error('the answer broke off'));
  }

  /** Only a stream sends something while there is nothing to send. */
  async *#watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    this.#silence.restart();
    let hasBegun = false;
    for await (const chunk of bytes) {
      // Whoever reads may take as long as it likes.
      this.#silence.stop();
      if (hasBegun) this.#onAlive();
      hasBegun = true;
      yield chunk;
      this.#silence.restart();
    }
  }

  end(): void {
    this.#silence.end();
  }
}

function verifierFrom(verifier: ChainVerifier | undefined, checkpoint: Checkpoint): ChainVerifier {
  if (verifier === undefined) return new ChainVerifier(checkpoint);
  const { log, head, link } = verifier.checkpoint;
  if (checkpoint.log !== log) {
    const message = `The gateway has the log "${checkpoint.log}" now, and the checkpoint is from "${log}".`;
    throw new PresenceError('other-log', message);
  }
  if (checkpoint.head !== head) throw lost(checkpoint.head);
  if (checkpoint.link === link) return verifier;
  const message = `Entry ${head} has another link than it had: it was changed, or an entry before it.`;
  throw new PresenceError('broken-chain', message, { seq: head });
}

function lost(head: number): PresenceError {
  const message = `Entry ${head + 1} is missing: the log ends before it.`;
  return new PresenceError('broken-chain', message, { seq: head + 1 });
}

/** What a cursor beyond the head means for a reader who knows that there was such an entry. */
function describeLostEntries(error: unknown, known: Checkpoint | undefined): unknown {
  if (!(error instanceof PresenceError) || known === undefined) return error;
  const { head, log } = error.problem ?? {};
  if (error.code !== 'invalid-parameter' || head === undefined || head >= known.head) return error;
  if (log === known.log) return lost(head);
  const message = `The gateway has another log now, and the checkpoint is from "${known.log}".`;
  return new PresenceError('other-log', message);
}

async function entryOf(line: LogLine, { longest, exactNumbers }: ParseOptions): Promise<Entry> {
  const decoder = new TextDecoder();
  const own = decoder.decode(line.own);
  let text = own;
  let size = 0;
  let separator = ',';
  for await (const chunk of line.chunks()) {
    size += chunk.length;
    if (size > longest) {
      const entry = shortenedEntry(own);
      if (entry !== undefined) return entry;
    }
    text += separator + decoder.decode(chunk, { stream: true });
    separator = '';
  }
  return parsed(line, () => parseEntry(`${text}${decoder.decode()}}`, exactNumbers));
}

function parsed(line: LogLine, parse: () => Entry): Entry {
  try {
    return parse();
  } catch (cause) {
    const message = `Entry ${line.seq} of the log is no JSON.`;
    throw new PresenceError('not-a-log', message, { cause, seq: line.seq });
  }
}

const LF = 0x0a;
const DATA = new TextEncoder().encode('data: ');

/** Makes of an event stream the lines that its data are, in flat memory (PROTOCOL.md section 20.3). */
async function* dataLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  /** How much of a line's beginning was `data: ` so far; -1 in a line that begins otherwise. */
  let matched = 0;
  for await (const chunk of stream) {
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
  }
}
