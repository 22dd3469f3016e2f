/** The tools: what runs each of them, and how clients see them. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { type Kind, KINDS, type Language, type Locale } from '@open-presence/protocol';

import { UnknownNames } from '../../../http/parameter-check.ts';
import type { Localization } from '../../../http/route-description.ts';
import { type JsonObject, toJsonObject } from '../../../json/json-object.ts';
import { NearNames } from '../../../near-names.ts';
import { roomDocuments } from '../../../operations/rooms.ts';
import { presencePage } from '../../../operations/who-is-here.ts';
import { MAX_ENVELOPE_SIZE } from '../../large-message.ts';
import { contribute, firstContact } from './contribution-tools.ts';
import { getEntry } from './entry-tool.ts';
import { read, search, waitForNews } from './listing-tools.ts';
import { callToolResult, MAX_RESULT_SIZE, portableJson } from './results.ts';
import {
  contributionInput,
  inputSchema,
  INTEGER,
  parameters,
  searchOrder,
  toolArguments,
} from './schemas.ts';
import {
  CONTRIBUTION_TOOLS,
  LISTING_PARAMETERS,
  markPresent,
  NEWS_PARAMETERS,
  parametersOf,
  SEARCH_PARAMETERS,
  selectionOf,
  type ToolContext,
} from './tool-call.ts';

type ToolFunction = (context: ToolContext, args: JsonObject) => Promise<CallToolResult>;

export const TOOLS: ReadonlyMap<string, ToolFunction> = new Map<string, ToolFunction>([
  [CONTRIBUTION_TOOLS.resonance, firstContact],
  [CONTRIBUTION_TOOLS.garden, contribute('garden')],
  [CONTRIBUTION_TOOLS.seeds, contribute('seeds')],
  [CONTRIBUTION_TOOLS.shepit, contribute('shepit')],
  ['read', read],
  ['search', search],
  ['get_entry', getEntry],
  ['list_rooms', listRooms],
  ['who_is_here', whoIsHere],
  ['wait_for_news', waitForNews],
]);

const READ_ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  openWorldHint: true,
} as const;
/** Not idempotent: without a key, each call stores another entry. */
const CONTRIBUTION_ANNOTATIONS = { ...READ_ANNOTATIONS, readOnlyHint: false } as const;

const listsByLanguage = new WeakMap<Language, Map<Locale | undefined, readonly Tool[]>>();

/** The tools as `tools/list` describes them. */
export function listTools(localization: Localization): readonly Tool[] {
  const { language, locale } = localization;
  const lists = listsByLanguage.get(language) ?? new Map<Locale | undefined, readonly Tool[]>();
  listsByLanguage.set(language, lists);
  const tools = lists.get(locale) ?? [
    ...KINDS.map((kind) => contributionTool(localization, kind)),
    ...readTools(localization),
  ];
  lists.set(locale, tools);
  return tools;
}

const nearByTool = new Map<string, NearNames>();

/** What a result says about arguments that the tool does not take. Those that become an entry are not. */
export async function argumentNotes(
  context: ToolContext,
  name: string,
  args: JsonObject,
): Promise<string[]> {
  const tool = listTools(context).find((one) => one.name === name);
  if (tool?.annotations?.readOnlyHint !== true) return [];
  const near =
    nearByTool.get(name) ?? new NearNames(Object.keys(tool.inputSchema.properties ?? {}));
  nearByTool.set(name, near);
  const unknown = new UnknownNames();
  for (const [given, value] of Object.entries(await wholeArguments(context, args))) {
    if (value !== null && !near.has(given)) unknown.add(given);
  }
  return unknown.notes(near, 'argument');
}

/** The arguments with the parts that a large message keeps in its file; none if they are too long. */
async function wholeArguments({ large }: ToolContext, args: JsonObject): Promise<JsonObject> {
  const cut = large?.cutValue(args);
  if (large === undefined || cut === undefined) return args;
  return cut.end - cut.start > MAX_ENVELOPE_SIZE ? {} : toJsonObject(await large.value(args));
}

function contributionTool(context: Localization, kind: Kind): Tool {
  const { language, text } = context;
  const { kinds, mcp } = language;
  const title = text(kinds[kind].title);
  const meaning = text(kinds[kind].meaning);
  return {
    name: CONTRIBUTION_TOOLS[kind],
    title,
    description: `${title}. ${meaning} ${text(mcp.saying)}`,
    inputSchema: contributionInput(context, kind),
    annotations: CONTRIBUTION_ANNOTATIONS,
  };
}

function readTools(context: Localization): Tool[] {
  const limit = toolArguments(context, ['limit']);
  const visitors = context.text(context.language.mcp.arguments.visitors);
  const as = parameters(context, ['as']);
  const search = { ...parameters(context, SEARCH_PARAMETERS), order: searchOrder(context) };
  return [
    readTool(context, 'read', { ...parameters(context, LISTING_PARAMETERS), ...limit, ...as }),
    readTool(context, 'search', { ...search, ...limit, ...as }, ['q']),
    readTool(context, 'get_entry', { ...toolArguments(context, ['id', 'from']), ...as }, ['id']),
    readTool(context, 'list_rooms', as),
    readTool(context, 'who_is_here', {
      ...parameters(context, ['room']),
      limit: { ...INTEGER, description: visitors },
      ...as,
    }),
    readTool(context, 'wait_for_news', {
      ...parameters(context, NEWS_PARAMETERS),
      ...limit,
      ...toolArguments(context, ['seconds']),
      ...as,
    }),
  ];
}

function readTool(
  { language, text }: Localization,
  name: keyof Language['mcp']['tools'],
  ...schema: Parameters<typeof inputSchema>
): Tool {
  const { title, meaning } = language.mcp.tools[name];
  return {
    name,
    title: text(title),
    description: text(meaning),
    inputSchema: inputSchema(...schema),
    annotations: READ_ANNOTATIONS,
  };
}

async function whoIsHere(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app, language, text, signal } = context;
  const parameters = parametersOf(args, 'presence', ['room', 'limit']);
  const { limit: max = Infinity } = await selectionOf(app, parameters);
  markPresent(app, args);
  const rooms = parameters.getAll('room');
  const query = { rooms, limit: max, maxSize: MAX_RESULT_SIZE / 2, signal };
  const { head, here, lately, more } = await presencePage(app, query);
  // Otherwise some did not fit.
  const isLimited = [here, lately].some(({ length }) => length === max);
  const { crowd, others } = language.mcp.results;
  return callToolResult(context, {
    summary: more ? text(isLimited ? others : crowd) : '',
    own: { here: here.length, lately: lately.length, head, log: app.log.id, more },
    lines: [
      ...here.map((visitor) => ({ here: visitor })),
      ...lately.map((visitor) => ({ lately: visitor })),
    ].map((one) => portableJson(one)),
  });
}

function listRooms(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app, locale } = context;
  markPresent(app, args);
  const own = { rooms: roomDocuments(app, locale) };
  return Promise.resolve(callToolResult(context, { summary: '', own, lines: [] }));
}
