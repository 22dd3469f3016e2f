/**
 * Reads the lines of a log: an answer of `GET /api/log`, the event stream that goes on after it, or an export
 * (PROTOCOL.md section 20). Owns the form of lines; whether their links hold, the store finds out.
 */
import type { Checkpoint } from '@open-presence/protocol';

import { SMALL_BODY_SIZE } from '../../intake/draft.ts';
import { type Line, linesOf, type LongLine } from '../../intake/line-reader.ts';
import type { LogLine } from '../log-line.ts';

/** What was read is no log. */
export class NotALog extends Error {
  constructor(line: number, fault: string) {
    super(`Line ${line} of the log ${fault}.`);
  }
}

const CHECKPOINT = /^(?:data: )?\{"log":"([^"\\]+)","head":(\d{1,16}),"link":"([\da-f]{64})"\}\r?$/;
const OPENING =
  /^(?:data: )?\{"link":"([\da-f]{64})"(?:,"salt":"([\da-f]{32})")?(?:,"digest":"([\da-f]{64})")?(?:,"thread":"([\da-f]{16})")?(?:,"key":"([\da-f]{64})")?,"entry":(\{"id":"([\da-f-]{36})","seq":(\d{1,16}),"kind":"([a-z]+)","room":"([^"\\]+)","timestamp":"[^"\\]+")(?:,|(?=\}))/;
/** How lines of an event stream begin that have no data. */
const NO_DATA = /^(?:event|id|retry)?:/;
/** What follows the visitor's members: the brace of the entry, and that of the line. */
const CLOSING = '}}';

const NO_LINE = 'breaks off, or has not the form of a line of a log';
const NO_CHECKPOINT = 'is no checkpoint, with which a log begins: these may be entries alone';

export interface LogLines {
  /** The position after which the lines begin. */
  readonly checkpoint: Checkpoint;
  /** Lines that arrived together: one that is long, or several. Their bytes are valid until the next ones are requested. */
  readonly batches: AsyncGenerator<readonly LogLine[], void>;
}

/** Throws `NotALog` for other bytes, also while the lines are read. */
export async function readLogLines(bytes: AsyncIterable<Uint8Array>): Promise<LogLines> {
  const source = linesWithData(bytes);
  try {
    const { value } = await source.next();
    const [first, ...others] = value ?? [];
    if (first === undefined) throw new NotALog(1, NO_CHECKPOINT);
    return { checkpoint: checkpointIn(first), batches: batchesOf(others, source) };
  } catch (error) {
    await source.return();
    throw error;
  }
}

async function* linesWithData(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly (Line | LongLine)[], void> {
  for await (const found of linesOf(buffersOf(bytes))) {
    const isData = (line: Line): boolean => !NO_DATA.test(line.bytes.toString('latin1', 0, 8));
    const lines = 'chunks' in found ? [found] : found.filter(isData);
    if (lines.length > 0) yield lines;
  }
}

async function* batchesOf(
  first: readonly (Line | LongLine)[],
  others: AsyncIterable<readonly (Line | LongLine)[]>,
): AsyncGenerator<readonly LogLine[], void> {
  const parsed = (lines: readonly (Line | LongLine)[]): Promise<LogLine[]> =>
    Promise.all(lines.map(async (line) => ('bytes' in line ? shortLine(line) : longLine(line))));
  if (first.length > 0) yield await parsed(first);
  for await (const lines of others) yield await parsed(lines);
}

async function* buffersOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  for await (const { buffer, byteOffset, length } of bytes)
    yield Buffer.from(buffer, byteOffset, length);
}

function checkpointIn(line: Line | LongLine): Checkpoint {
  const text = 'bytes' in line ? line.bytes.toString() : '';
  const [, log, head, link] = CHECKPOINT.exec(text) ?? [];
  if (log === undefined || link === undefined) throw new NotALog(line.number, NO_CHECKPOINT);
  return { log, head: Number(head), link };
}

function shortLine({ number, bytes }: Line): LogLine {
  const { rest, ...members } = openingOf(bytes, number);
  const body = withoutClosing(rest, number);
  return { ...members, body, chunks: () => only(body) };
}

async function longLine({ number, chunks }: LongLine): Promise<LogLine> {
  const source = chunks[Symbol.asyncIterator]();
  let bytes = Buffer.alloc(0);
  while (bytes.length <= SMALL_BODY_SIZE) {
    const step = await source.next();
    if (step.done === true) break;
    bytes = Buffer.concat([bytes, step.value]);
  }
  const { rest, ...members } = openingOf(bytes, number);
  async function* body(): AsyncGenerator<Buffer, void> {
    let held = rest;
    for (let step = await source.next(); step.done !== true; step = await source.next()) {
      yield held.subarray(0, -CLOSING.length);
      held = Buffer.concat([held.subarray(-CLOSING.length), step.value]);
    }
    yield withoutClosing(held, number);
  }
  const pieces = body();
  return { ...members, body: undefined, chunks: () => pieces };
}

/** What a line has before the visitor's members, and the rest of it. `bytes`: the line, or its beginning. */
function openingOf(
  bytes: Buffer,
  number: number,
): Omit<LogLine, 'body' | 'chunks'> & { readonly rest: Buffer } {
  const found = OPENING.exec(bytes.toString('latin1'));
  if (found === null) throw new NotALog(number, NO_LINE);
  const [all, link = '', salt, digest, thread, key, printed = ''] = found;
  const [id = '', seq, kind = '', room = ''] = found.slice(7);
  const end = all.endsWith(',') ? all.length - 1 : all.length;
  const own = bytes.subarray(end - printed.length, end);
  const rest = bytes.subarray(all.length);
  return { link, salt, digest, thread, key, id, seq: Number(seq), kind, room, own, rest };
}

function withoutClosing(rest: Buffer, number: number): Buffer {
  const end = rest.length - CLOSING.length;
  if (rest.toString('latin1', Math.max(0, end)) === CLOSING) return rest.subarray(0, end);
  throw new NotALog(number, NO_LINE);
}

async function* only(body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield body;
}
