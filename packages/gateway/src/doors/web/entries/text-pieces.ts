/**
 * Reads long texts in pieces of a few kilobytes, at any depth. A piece's number alone decides where it starts
 * and ends: together, all pieces are the text. Memory and time of a piece do not grow with the text, except for
 * the first piece read of an entry, which looks for the text's end.
 */
import type { TextPiece } from '@open-presence/web/page-data';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { PathFinder, type FoundValue } from '../../../json/path-finder.ts';
import { JsonScanner } from '../../../json/scanner.ts';
import type { Entry } from '../../../log/log.ts';
import { entryVersion } from '../../../operations/read-version.ts';

export interface PieceRequest {
  /** The member `text` of the entry, decoded; or the entry itself. */
  readonly of: 'text' | 'json';
  /** From 1. Beyond the last piece, the last. */
  readonly part: number;
  readonly signal?: AbortSignal;
}

/** Offsets in bytes of the entry. */
interface Extent {
  readonly start: number;
  readonly end: number;
}

const PIECE_SIZE = 16 * 1024;
/** How far after its place a piece may end, in order to end with a line or a word. */
const MAX_SHIFT = 1024;
/** How many bytes before a place are looked at to tell whether an escape starts there. */
const LOOK_BEHIND = 4096;
const MAX_REMEMBERED = 512;

const NONE: Extent = { start: 0, end: 0 };
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Where the texts of entries are that were read lately. */
const extents = new Map<string, Extent>();

export async function readPiece(
  entry: Entry,
  { of, part: wanted, signal }: PieceRequest,
): Promise<TextPiece> {
  const extent = of === 'json' ? { start: 0, end: entry.size } : await extentOfText(entry, signal);
  const parts = Math.max(1, Math.ceil((extent.end - extent.start) / PIECE_SIZE));
  const part = Math.min(Math.max(1, Math.trunc(wanted) || 1), parts);
  const from = extent.start + (part - 1) * PIECE_SIZE;
  const first = Math.max(extent.start, from - LOOK_BEHIND - 8);
  const last = Math.min(extent.end, from + PIECE_SIZE + MAX_SHIFT);
  const bytes = await readBytes(entry, first, last);
  const isText = of === 'text';
  const start = part === 1 ? 0 : boundary(bytes, from - first, isText);
  const end = part === parts ? bytes.length : boundary(bytes, from + PIECE_SIZE - first, isText);
  const text = decoder.decode(bytes.subarray(start, end));
  return { text: isText ? unescaped(text) : text, part, parts };
}

async function extentOfText(entry: Entry, signal: AbortSignal | undefined): Promise<Extent> {
  const { id } = entry.metadata;
  if (entryVersion(entry) !== '') return NONE;
  const known = extents.get(id);
  if (known !== undefined) return known;
  const extent = await findText(entry, signal);
  for (const oldest of extents.keys()) {
    if (extents.size < MAX_REMEMBERED) break;
    extents.delete(oldest);
  }
  extents.set(id, extent);
  return extent;
}

/** Finds the text of an entry. If several members have its name, the last one counts. */
async function findText(entry: Entry, signal: AbortSignal | undefined): Promise<Extent> {
  let found: FoundValue | undefined;
  const finder = new PathFinder([['text']], (value) => void (found = value));
  const scanner = new JsonScanner(finder);
  const yieldTurn = yieldPeriodically();
  for await (const chunk of entry.chunks()) {
    scanner.feed(chunk);
    await yieldTurn();
    signal?.throwIfAborted();
  }
  return found?.type === 'string' ? { start: found.start + 1, end: found.end - 1 } : NONE;
}

async function readBytes(entry: Entry, from: number, to: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = to - from;
  if (left <= 0) return Buffer.alloc(0);
  for await (const chunk of entry.chunks(from)) {
    chunks.push(Buffer.from(chunk.subarray(0, left)));
    left -= chunk.length;
    if (left <= 0) break;
  }
  return Buffer.concat(chunks);
}

/** The best place for a border from `at` on: after a line, else after a word, else between characters. */
function boundary(bytes: Buffer, at: number, isText: boolean): number {
  const start = nextWhole(bytes, at, isText);
  const limit = Math.min(bytes.length, at + MAX_SHIFT);
  const line = isText ? lineEnd(bytes, start, limit) : undefined;
  if (line !== undefined) return line;
  const space = bytes.subarray(0, limit).indexOf(SPACE, start);
  return space === -1 ? Math.min(start, bytes.length) : space + 1;
}

/** The index after the first line end, which is written as `\n`. */
function lineEnd(bytes: Buffer, from: number, limit: number): number | undefined {
  for (let at = from; at < limit - 1; at += 1) {
    if (bytes[at] !== BACKSLASH) continue;
    if (bytes[at + 1] === 0x6e) return at + 2;
    at += 1;
  }
  return undefined;
}

/** The first place from `at` on that is within no character. */
function nextWhole(bytes: Buffer, at: number, isText: boolean): number {
  let place = at;
  while (place < bytes.length && !isWhole(bytes, place, isText)) place += 1;
  return place;
}

function isWhole(bytes: Buffer, at: number, isText: boolean): boolean {
  if (((bytes[at] ?? 0) & 0xc0) === 0x80) return false;
  if (!isText) return true;
  if (isEscaped(bytes, at)) return false;
  for (let digits = 0; digits < 4; digits += 1) {
    const u = at - digits - 1;
    if (bytes[u] === 0x75 && isEscaped(bytes, u)) return false;
  }
  const pair = bytes.toString('latin1', Math.max(0, at - 6), at + 6);
  return !/^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]/.test(pair);
}

/** Whether an odd number of backslashes stands before it, as far as is looked. */
function isEscaped(bytes: Buffer, at: number): boolean {
  const limit = Math.max(0, at - LOOK_BEHIND);
  let first = at;
  while (first > limit && bytes[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** In a run of thousands of backslashes, a piece may start within an escape. It is then shown as it is. */
function unescaped(json: string): string {
  try {
    return String(JSON.parse(`"${json}"`));
  } catch {
    return json;
  }
}
