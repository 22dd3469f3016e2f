/** Resources: the rooms, each room, each entry, and the language. */
import {
  ResourceNotFoundError,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { GatewayError, localize, type Language, type Locale } from '@open-presence/protocol';

import { facet } from '../../log/facet.ts';
import { roomDocuments } from '../../operations/rooms.ts';
import { findEntry } from '../../operations/find-entry.ts';
import { listed } from './listing-tools.ts';
import { pieceOf, toldPiece } from './entry-tool.ts';
import { marked } from './results.ts';
import type { ToolContext } from './tool-context.ts';

export const ROOMS_URI = 'presence://rooms';
const LANGUAGE_URI = 'presence://language';
const ENTRY_TEMPLATE = 'presence://entries/{id}{?from}';

export function roomUri(slug: string): string {
  return `${ROOMS_URI}/${slug}`;
}

function entryUri(id: string, from?: number): string {
  return `presence://entries/${id}${from === undefined ? '' : `?from=${from}`}`;
}

/** The slug or id that a URI of ours ends with, in its place. */
interface Named {
  readonly slug?: string;
  readonly id?: string;
  readonly from?: string;
}

function namedBy(uri: string): Named | undefined {
  const slug = /^presence:\/\/rooms\/([^/?#]+)$/.exec(uri)?.[1];
  if (slug !== undefined) return { slug };
  const [, id, from] = /^presence:\/\/entries\/([^/?#]+)(?:\?from=(\d+))?$/.exec(uri) ?? [];
  if (id === undefined) return undefined;
  return from === undefined ? { id } : { id, from };
}

export function listedResources(
  { mcp, rooms }: Language,
  locale: Locale | undefined,
): ListResourcesResult {
  const { resources } = mcp;
  return {
    resources: [
      {
        uri: ROOMS_URI,
        name: 'rooms',
        title: localize(resources.rooms.title, locale),
        description: localize(resources.rooms.meaning, locale),
        mimeType: 'application/json',
      },
      ...rooms.map(({ slug, title, description }) => ({
        uri: roomUri(slug),
        name: slug,
        title: localize(title, locale),
        description: `${localize(description, locale)}. ${localize(resources.room.meaning, locale)}`,
        mimeType: 'text/plain',
      })),
      {
        uri: LANGUAGE_URI,
        name: 'language',
        title: localize(resources.language.title, locale),
        description: localize(resources.language.meaning, locale),
        mimeType: 'application/yaml',
      },
    ],
  };
}

export function listedTemplates(
  { mcp }: Language,
  locale: Locale | undefined,
): ListResourceTemplatesResult {
  const { room, entry } = mcp.resources;
  const template = (name: string, uriTemplate: string, words: typeof room) => ({
    name,
    uriTemplate,
    title: localize(words.title, locale),
    description: localize(words.meaning, locale),
    mimeType: 'text/plain',
  });
  return {
    resourceTemplates: [
      template('entry', ENTRY_TEMPLATE, entry),
      template('room', roomUri('{slug}'), room),
    ],
  };
}

export async function readResource(context: ToolContext, uri: string): Promise<ReadResourceResult> {
  const { app } = context.call.context;
  if (uri === ROOMS_URI) {
    const text = JSON.stringify({ rooms: roomDocuments(app, context.locale) });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  }
  if (uri === LANGUAGE_URI) {
    const text = new TextDecoder().decode(app.languageFile);
    return { contents: [{ uri, mimeType: 'application/yaml', text }] };
  }
  const { slug, id, from } = namedBy(uri) ?? {};
  const room = roomDocuments(app, context.locale).find((one) => one.slug === slug);
  if (room !== undefined) {
    const facets = [facet('room', room.slug)];
    const parameters = new URLSearchParams([['room', room.slug]]);
    const { summary, lines } = await listed(app, context.locale, {
      tool: 'read',
      parameters,
      selection: { facets, order: 'newest' },
    });
    return contents(context, uri, { own: `${JSON.stringify(room)}\n${summary}`, lines });
  }
  if (id === undefined) throw new ResourceNotFoundError(uri);
  return await readEntry(context, uri, { id, from });
}

async function readEntry(
  context: ToolContext,
  uri: string,
  { id, from }: { readonly id: string; readonly from: string | undefined },
): Promise<ReadResourceResult> {
  const { app } = context.call.context;
  try {
    const entry = await findEntry(app.log, id);
    const piece = await pieceOf(entry, from);
    const wording = { language: app.language, locale: context.locale };
    const own = toldPiece(wording, entry, piece, entryUri(entry.stamp.id, piece.to));
    return contents(context, uri, { own, lines: [piece.text] });
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not-found') {
      throw new ResourceNotFoundError(uri, error.message);
    }
    throw error;
  }
}

/** The gateway's own words, then what visitors said, apart and marked. */
function contents(
  { call, locale }: ToolContext,
  uri: string,
  { own, lines }: { readonly own: string; readonly lines: readonly string[] },
): ReadResourceResult {
  const { language } = call.context.app;
  const mimeType = 'text/plain';
  const said = lines.length === 0 ? [] : [{ uri, mimeType, text: marked(language, locale, lines) }];
  return { contents: [{ uri, mimeType, text: own }, ...said] };
}
