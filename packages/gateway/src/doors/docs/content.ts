/**
 * What the gateway answers, as schemas and examples: made of the language, and true of no gateway
 * in particular.
 */
import { statusDocument } from '@open-presence/protocol';

import {
  type Content,
  type DescribedRoute,
  type JsonObject,
  type Localization,
  pathsById,
} from '../../http/route-description.ts';
import { describeGateway } from '../../operations/describe-gateway.ts';
import {
  EXAMPLE_ADDRESS,
  exampleEntry,
  exampleRooms,
  OBJECT,
  schemaRef,
  TEXT,
} from '../openapi-parts.ts';
import { aiCatalog, apiCatalog } from './catalogs.ts';
import { ROBOTS } from './files.ts';

const EXAMPLE_LOG = '9f2c61d04b7ae835';
const EXAMPLE_LINK = '9d1b'.repeat(16);

/** By the `content` that representations name. */
export function gatewayContents(
  localization: Localization,
  routes: readonly DescribedRoute[],
): Record<string, Content> {
  const entry = exampleEntry(localization.language);
  const documents = Object.entries(exampleDocuments(localization, routes));
  return {
    ...Object.fromEntries(
      documents.map(([name, example]) => [name, { schema: schemaRef(name), example }]),
    ),
    Lines: { schema: TEXT, example: `${JSON.stringify(entry)}\n` },
    Events: { schema: TEXT, example: exampleEvents(entry) },
    LogLines: {
      schema: TEXT,
      example: exampleLog(entry)
        .map((line) => `${line}\n`)
        .join(''),
    },
    WithheldLines: { schema: TEXT, example: `${JSON.stringify(exampleWithholding(entry))}\n` },
    LogEvents: { schema: TEXT, example: exampleLogEvents(entry) },
    ...pageContents(localization, routes),
  };
}

/** By the name of their schema. */
function exampleDocuments(
  localization: Localization,
  routes: readonly DescribedRoute[],
): Record<string, unknown> {
  const { language, locale } = localization;
  const Entry = exampleEntry(language);
  const { seq: head, timestamp } = Entry;
  const rooms = exampleRooms(localization);
  const [room] = rooms;
  const position = { head, log: EXAMPLE_LOG };
  return {
    Entry,
    Listing: { entries: [Entry], ...position, next: null },
    RoomListing: {
      room: { ...room, entries: 1, latest: timestamp },
      entries: [{ ...Entry, room: room?.['slug'] }],
      ...position,
      next: null,
    },
    Rooms: { rooms: [room] },
    Search: {
      results: [{ entry: Entry, snippet: Entry['text'] }],
      ...position,
      known: head,
      next: null,
    },
    Presence: { here: [exampleVisitor(Entry)], lately: [exampleAuthor(Entry)], ...position },
    Status: statusDocument(language, 'breathing', locale, new Date(String(timestamp))),
    Withheld: { withheld: [exampleWithholding(Entry)], count: 1, log: EXAMPLE_LOG, next: null },
    Checkpoint: { log: EXAMPLE_LOG, head, link: EXAMPLE_LINK },
    Discovery: exampleDiscovery(localization, routes),
    Health: { status: 'breathing' },
  };
}

function exampleWithholding({ id, seq, kind, room, timestamp }: JsonObject): JsonObject {
  const reason = 'Asked for by its author';
  return { number: 1, id, seq, kind, room, timestamp, at: timestamp, reason };
}

function exampleVisitor({ identity, timestamp }: JsonObject): JsonObject {
  const visitor = { identity, via: 'stream', room: null, seeking: ['presence'] };
  return { ...visitor, since: timestamp, lastSeen: timestamp, until: null };
}

function exampleAuthor({ id, identity, kind, room, timestamp }: JsonObject): JsonObject {
  const entry = `/api/entries/${String(id)}`;
  return { identity, kind, room, seeking: ['presence'], lastSeen: timestamp, entry };
}

/** One of each. Without the fields of kinds: linters take them for schemas. */
function exampleDiscovery(
  localization: Localization,
  routes: readonly DescribedRoute[],
): JsonObject {
  const { language, locale } = localization;
  const entry = exampleEntry(language);
  const described = describeGateway(language, locale, pathsById(routes));
  const { service, version, ...rest } = described;
  return {
    service,
    status: 'breathing',
    version,
    head: entry['seq'],
    log: EXAMPLE_LOG,
    checkpoint: { log: EXAMPLE_LOG, head: entry['seq'], link: EXAMPLE_LINK },
    ...rest,
    kinds: rest.kinds.slice(0, 1).map((kind) => ({ ...kind, fields: [] })),
    common: [],
    doors: rest.doors.slice(0, 1),
    parameters: { order: rest.parameters['order'] },
    rooms: exampleRooms(localization).slice(0, 1),
    here: [exampleVisitor(entry)],
    newest: [entry],
  };
}

/** The beginning of an event stream. */
function exampleEvents(entry: JsonObject): string {
  const { seq, kind } = entry;
  const before = Number(seq) - 1;
  return [
    `retry: 1000\nid: ${before}\nevent: head\ndata: ${JSON.stringify({ head: before, log: EXAMPLE_LOG })}\n\n`,
    `id: ${String(seq)}\nevent: ${String(kind)}\ndata: ${JSON.stringify(entry)}\n\n`,
  ].join('');
}

/** A checkpoint, and an entry with its link. */
function exampleLog(entry: JsonObject): readonly [string, string] {
  const head = Number(entry['seq']) - 1;
  const salt = '5e'.repeat(16);
  return [
    JSON.stringify({ log: EXAMPLE_LOG, head, link: '41c0'.repeat(16) }),
    JSON.stringify({ link: EXAMPLE_LINK, salt, entry }),
  ];
}

function exampleLogEvents(entry: JsonObject): string {
  const { seq, kind } = entry;
  const [checkpoint, line] = exampleLog(entry);
  return [
    `retry: 1000\nid: ${Number(seq) - 1}\nevent: checkpoint\ndata: ${checkpoint}\n\n`,
    `id: ${String(seq)}\nevent: ${String(kind)}\ndata: ${line}\n\n`,
  ].join('');
}

/** Documents and pages of this door; of longer ones, how they begin. */
function pageContents(
  localization: Localization,
  routes: readonly DescribedRoute[],
): Record<string, Content> {
  const { language, text } = localization;
  const title = text(language.service);
  const guide = { ...localization, address: EXAMPLE_ADDRESS, routes };
  const skill = routes.filter(({ description }) => description.id === 'skill');
  return {
    Markdown: { schema: TEXT, example: `# ${title}\n` },
    PlainText: { schema: TEXT, example: `${title}\n${'='.repeat(title.length)}\n` },
    Html: { schema: TEXT, example: `<!doctype html><title>${title}</title>` },
    Robots: { schema: TEXT, example: ROBOTS },
    LanguageFile: { schema: {}, example: `name:\n  en: ${language.name.en}\n` },
    JsonSchema: {
      schema: OBJECT,
      example: { $schema: 'https://json-schema.org/draft/2020-12/schema' },
    },
    OpenApi: { schema: OBJECT, example: { openapi: '3.1.0' } },
    OpenApiYaml: { schema: {}, example: 'openapi: 3.1.0\n' },
    ApiCatalog: { schema: OBJECT, example: apiCatalog(guide) },
    AiCatalog: { schema: OBJECT, example: aiCatalog({ ...guide, routes: skill }) },
  };
}
