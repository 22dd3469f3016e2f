/** An entry in pieces, by offsets of its text in bytes. */
import { entryHead, GatewayError, localize, quoted } from '@open-presence/protocol';

import type { Entry } from '../../log/log.ts';
import { isDeeper } from '../../json/limits.ts';
import { DEEPEST, fieldsOf, type Fields, type Wording, MAX_RESULT_SIZE } from './results.ts';

export interface Piece {
  readonly from: number;
  /** Behind its last byte. */
  readonly to: number;
  readonly text: string;
  /** The entry, where this is all of it. */
  readonly value?: Fields;
}

/** Whole characters from an offset on, as an earlier piece told it. Throws for another offset. */
export async function pieceOf(entry: Entry, offset: string | undefined): Promise<Piece> {
  const from = offset === undefined ? 0 : offsetOf(offset, entry.size);
  const bytes = await bytesOf(entry, from, MAX_RESULT_SIZE + 1);
  if (isContinuation(bytes[0])) throw noOffset(offset ?? '', entry.size);
  // The byte behind the piece tells whether a character would be cut.
  let end = Math.min(bytes.length, MAX_RESULT_SIZE);
  while (isContinuation(bytes[end])) end -= 1;
  const text = bytes.subarray(0, end).toString();
  const to = from + end;
  const whole = from === 0 && to === entry.size && !isDeeper(bytes, DEEPEST);
  return whole ? { from, to, text, value: fieldsOf(text) } : { from, to, text };
}

/** Which entry it is, which bytes of it (as in `Content-Range`), and the call that reads on. */
export function toldPiece(
  { language, locale }: Wording,
  { stamp, size }: Entry,
  { from, to }: Piece,
  call: string,
): string {
  const { results } = language.mcp;
  const own = `${entryHead(stamp)}}`;
  if (from === 0 && to === size) return own;
  const piece = `${own}\n${localize(results.piece, locale)} ${from}-${to - 1}/${size}.`;
  if (to === size) return `${piece} ${localize(results.last, locale)}`;
  return `${piece} ${localize(results.more, locale)} ${call}`;
}

async function bytesOf(entry: Entry, from: number, length: number): Promise<Buffer> {
  if (entry.text !== undefined) return Buffer.from(entry.text).subarray(from, from + length);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of entry.chunks(from)) {
    pieces.push(Buffer.from(piece));
    size += piece.length;
    if (size >= length) break;
  }
  return Buffer.concat(pieces).subarray(0, length);
}

/** Whether a byte stands within a character of UTF-8. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function offsetOf(text: string, size: number): number {
  const offset = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (offset < size) return offset;
  throw noOffset(text, size);
}

function noOffset(text: string, size: number): GatewayError {
  const detail = `"from" must be the offset given with the previous piece, less than ${size}, got ${quoted(text)}`;
  return new GatewayError('invalid-parameter', `Cannot read a piece of the entry: ${detail}`, {
    faults: [{ parameter: 'from', detail }],
  });
}
