/** The tool `get_entry`: an entry of any size, in pieces by byte offsets of its JSON text. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { quoted, referencedId, type GatewayError } from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import type { Entry } from '../../../log/log.ts';
import { findEntry, withText } from '../../../operations/find-entry.ts';
import { withheldMember } from '../../../operations/withholding/withholdings.ts';
import type { DoorContext } from '../../context.ts';
import { callToolResult, MAX_RESULT_SIZE, stampObject, type ToolResult } from './results.ts';
import {
  invalidArgument,
  markPresent,
  pickArguments,
  textArgument,
  type ToolContext,
} from './tool-call.ts';

const MISSING_ID = '"id" must be the id or the seq of an entry, but it is missing';

export interface EntryPiece {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly text: string;
}

export async function getEntry(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app } = context;
  const named = textArgument(args, 'id', 'an entry');
  if (named === undefined) throw invalidArgument('id', MISSING_ID, 'an entry');
  markPresent(app, args);
  const entry = await readableEntry(app, referencedId(named) ?? named);
  const lost = lostEntry(context, entry);
  if (lost !== undefined) {
    const own = { bytes: entry.size, next: null, ...lost.own };
    return callToolResult(context, { summary: lost.summary, own, lines: [] });
  }
  const piece = await readPiece(entry, textArgument(args, 'from', 'an entry'));
  const { end, text } = piece;
  const { metadata, size } = entry;
  const next = end === size ? null : { id: metadata.id, from: end, ...pickArguments(args, ['as']) };
  return callToolResult(context, {
    summary: describePiece(context, entry, piece, 'get_entry'),
    own: { bytes: size, next },
    lines: [text],
  });
}

/** The entry in its portable form, or exact if that form omits it. Throws `not-found`. */
export async function readableEntry({ log }: Pick<DoorContext, 'log'>, id: string): Promise<Entry> {
  return await withText(log, await findEntry(log, id));
}

/** What is left of a withheld entry. Undefined for any other. */
export function lostEntry(
  { language, text }: Localization,
  entry: Entry,
): Pick<ToolResult, 'summary' | 'own'> | undefined {
  const withheld = withheldMember(entry);
  if (withheld === undefined) return undefined;
  const own = { ...stampObject(entry.metadata), withheld };
  return { summary: text(language.labels.withheld), own };
}

/** Whole characters from an offset that the previous piece gave. Throws for another offset. */
export async function readPiece(entry: Entry, offset: string | undefined): Promise<EntryPiece> {
  const start = offset === undefined ? 0 : parseOffset(offset, entry.size);
  const bytes = await readBytes(entry, start, MAX_RESULT_SIZE + 1);
  if (isContinuation(bytes[0])) throw invalidOffset(offset ?? '', entry.size);
  // The byte after the piece shows whether a character would be cut.
  let length = Math.min(bytes.length, MAX_RESULT_SIZE);
  while (isContinuation(bytes[length])) length -= 1;
  return { start, end: start + length, text: bytes.subarray(0, length).toString() };
}

/** Which bytes of an entry these are (as in `Content-Range`), and the call that reads on. Empty for a whole entry. */
export function describePiece(
  { language, text }: Localization,
  { size }: Entry,
  { start, end }: EntryPiece,
  reader: string,
): string {
  const { results } = language.mcp;
  if (start === 0 && end === size) return '';
  const piece = `${text(results.piece)} ${start}-${end - 1}/${size}.`;
  return `${piece} ${end === size ? text(results.last) : `${text(results.more)} ${reader}.`}`;
}

async function readBytes(entry: Entry, start: number, length: number): Promise<Buffer> {
  if (entry.text !== undefined) return Buffer.from(entry.text).subarray(start, start + length);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of entry.chunks(start)) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size >= length) break;
  }
  return Buffer.concat(chunks).subarray(0, length);
}

/** Whether a byte continues a character of UTF-8. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function parseOffset(text: string, size: number): number {
  const offset = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (offset < size) return offset;
  throw invalidOffset(text, size);
}

function invalidOffset(text: string, size: number): GatewayError {
  const detail = `"from" must be the offset given with the previous piece, less than ${size}, got ${quoted(text)}`;
  return invalidArgument('from', detail, 'a piece of the entry');
}
