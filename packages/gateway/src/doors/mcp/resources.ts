/** Resources: the rooms, each room, each entry, and the language. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { GatewayError, quoted, type RoomDocument } from '@open-presence/protocol';

import type { Localization } from '../../http/route-description.ts';
import { facet } from '../../log/facet.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import { roomDocuments } from '../../operations/rooms.ts';
import type { DoorContext } from '../context.ts';
import { describePiece, lostEntry, readPiece, readableEntry } from './tools/entry-tool.ts';
import { listEntries } from './tools/listing-tools.ts';
import { asGatewayError, resultTexts, type ToolResult } from './tools/results.ts';
import type { ToolContext } from './tools/tool-call.ts';

export const ROOMS_URI = 'presence://rooms';
const LANGUAGE_URI = 'presence://language';
const ENTRIES_URI = 'presence://entries';
const ENTRY_TEMPLATE = `${ENTRIES_URI}/{id}{?from}`;
const ROOM = /^presence:\/\/rooms\/([^/?#]+)$/;
const ENTRY = /^presence:\/\/entries\/([^/?#]+)(?:\?from=(\d+))?$/;

export function roomUri(slug: string): string {
  return `${ROOMS_URI}/${slug}`;
}

export function entryUri(id: string): string {
  return `${ENTRIES_URI}/${id}`;
}

export function listResources({ language, text }: Localization): ListResourcesResult {
  const { resources } = language.mcp;
  const resource = (name: 'rooms' | 'language', uri: string, mimeType: string) => {
    const { title, meaning } = resources[name];
    return { uri, name, title: text(title), description: text(meaning), mimeType };
  };
  return {
    resources: [
      resource('rooms', ROOMS_URI, 'application/json'),
      ...language.rooms.map(({ slug, title, description }) => ({
        uri: roomUri(slug),
        name: slug,
        title: text(title),
        description: `${text(description)}. ${text(resources.room.meaning)}`,
        mimeType: 'text/plain',
      })),
      resource('language', LANGUAGE_URI, 'application/yaml'),
    ],
  };
}

export function listResourceTemplates({
  language,
  text,
}: Localization): ListResourceTemplatesResult {
  const { room, entry } = language.mcp.resources;
  const template = (name: string, uriTemplate: string, { title, meaning }: typeof room) => ({
    name,
    uriTemplate,
    title: text(title),
    description: text(meaning),
    mimeType: 'text/plain',
  });
  return {
    resourceTemplates: [
      template('entry', ENTRY_TEMPLATE, entry),
      template('room', roomUri('{slug}'), room),
    ],
  };
}

/** Throws `unknown-room` or `not-found`, with the values that exist. */
export async function readResource(context: ToolContext, uri: string): Promise<ReadResourceResult> {
  const { app, locale } = context;
  const rooms = roomDocuments(app, locale);
  if (uri === ROOMS_URI) {
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ rooms }) }] };
  }
  if (uri === LANGUAGE_URI) {
    const text = new TextDecoder().decode(app.languageFile);
    return { contents: [{ uri, mimeType: 'application/yaml', text }] };
  }
  const [, slug] = ROOM.exec(uri) ?? [];
  if (slug !== undefined) {
    const room = rooms.find((document) => document.slug === slug) ?? rejectRoom(uri, rooms);
    return contents(context, uri, await readRoom(context, room));
  }
  const [, id, from] = ENTRY.exec(uri) ?? [];
  if (id === undefined) throw unknownResource(uri);
  return contents(context, uri, await readEntry(context, id, from));
}

/** Errors that other parameters would not avoid. */
const INTERNAL_CODES: ReadonlySet<string> = new Set(['out-of-space', 'unavailable', 'internal']);

export function resourceError(app: DoorContext, uri: string, thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code, message, extensions } = asGatewayError(app, thrown);
  const { InternalError, InvalidParams } = ProtocolErrorCode;
  const rpcCode = INTERNAL_CODES.has(code) ? InternalError : InvalidParams;
  return new ProtocolError(rpcCode, message, { uri, code, ...extensions });
}

function rejectRoom(uri: string, rooms: readonly Pick<RoomDocument, 'slug'>[]): never {
  const known = rooms.map(({ slug }) => slug);
  const detail = `Cannot read ${quoted(uri)}: there is no such room. The rooms are ${known.join(', ')}.`;
  throw new GatewayError('unknown-room', detail, { known });
}

function unknownResource(uri: string): GatewayError {
  const known = [ROOMS_URI, roomUri('{slug}'), ENTRY_TEMPLATE, LANGUAGE_URI];
  const detail = `Cannot read ${quoted(uri)}: there is no such resource. There are ${known.join(', ')}.`;
  return new GatewayError('not-found', detail, { known });
}

async function readRoom(context: ToolContext, room: RoomDocument): Promise<ToolResult> {
  const listing = await listEntries(context, {
    tool: 'read',
    parameters: new URLSearchParams([['room', room.slug]]),
    selection: { facets: [facet('room', room.slug)], order: 'newest' },
    given: { room: room.slug },
  });
  return { ...listing, summary: `${JSON.stringify(room)}\n${listing.summary}` };
}

async function readEntry(
  context: ToolContext,
  id: string,
  from: string | undefined,
): Promise<ToolResult> {
  const { log } = context.app;
  await untilSeen(log, [['id', id]]);
  const entry = await readableEntry(context.app, id);
  const lost = lostEntry(context, entry);
  if (lost !== undefined) return { ...lost, lines: [] };
  const piece = await readPiece(entry, from);
  const { metadata, size } = entry;
  const next = piece.end === size ? null : `${entryUri(metadata.id)}?from=${piece.end}`;
  return {
    summary: describePiece(context, entry, piece, 'resources/read'),
    own: { bytes: size, next },
    lines: [piece.text],
  };
}

/** The gateway's own text, and what visitors wrote as a second content. */
function contents(context: Localization, uri: string, result: ToolResult): ReadResourceResult {
  const texts = resultTexts(context, result);
  return { contents: texts.map((text) => ({ uri, mimeType: 'text/plain', text })) };
}
