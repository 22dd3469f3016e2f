/** The tools: what runs each of them, and how clients see them. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { type Kind, KINDS, type Language, type Locale } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { UnknownNames } from '../../../http/parameters/parameter-check.ts';
import type { Localization } from '../../../http/route-description.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import { NearNames } from '../../../near-names.ts';
import { roomDocuments } from '../../../operations/rooms.ts';
import { presencePage } from '../../../operations/who-is-here.ts';
import { catchUp } from './catch-up-tool.ts';
import { contribute, firstContact } from './contribution-tools.ts';
import { getEntry } from './entry-tool.ts';
import { read, search, waitForNews } from './listing-tools.ts';
import { callToolResult, MAX_RESULT_SIZE, portableJson } from './results.ts';
import { contributionInput, inputSchema, parameters, toolArguments } from './schemas.ts';
import {
  CONTRIBUTION_TOOLS,
  filtersIn,
  LISTING_PARAMETERS,
  markPresent,
  NEWS_PARAMETERS,
  parametersOf,
  READ_TOOLS,
  READER,
  SEARCH_PARAMETERS,
  selectionOf,
  type ToolContext,
} from './tool-call.ts';

type ToolFunction = (context: ToolContext, args: JsonObject) => Promise<CallToolResult>;

export const TOOLS: ReadonlyMap<string, ToolFunction> = new Map<string, ToolFunction>([
  ['catch_up', catchUp],
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

/** Hints that are not as the specification has them without. */
const READ_ANNOTATIONS = { readOnlyHint: true } as const;
/** Not idempotent: without a key, each call stores another entry. */
const CONTRIBUTION_ANNOTATIONS = { destructiveHint: false } as const;

const PRESENCE_PARAMETERS = ['room', 'limit'] as const;
/** The parameters that a tool takes; its schema names the most useful of them. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  read: LISTING_PARAMETERS,
  search: SEARCH_PARAMETERS,
  wait_for_news: NEWS_PARAMETERS,
};

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

/**
 * What a result says about arguments that the tool does not take. An argument that becomes part of an entry is
 * taken.
 */
export async function argumentNotes(
  context: ToolContext,
  name: string,
  args: JsonObject,
): Promise<string[]> {
  const tool = listTools(context).find((one) => one.name === name);
  if (tool?.annotations?.readOnlyHint !== true) return [];
  const taken = TAKEN[name] ?? [];
  const near =
    nearByTool.get(name) ??
    new NearNames([...taken, ...Object.keys(tool.inputSchema.properties ?? {}), READER]);
  nearByTool.set(name, near);
  const unknown = new UnknownNames();
  for (const [given, value] of Object.entries(args)) {
    if (value !== null && !near.has(given)) unknown.add(given);
  }
  const yieldTurn = yieldPeriodically();
  // The tool refuses filters of another type.
  const hasFilters = taken.length > 0 && typeof args['filters'] === 'string';
  const filters = hasFilters ? (await filtersIn(args, [...taken, READER])).keys() : [];
  for (const given of filters) {
    if (!taken.includes(given) && given !== READER) unknown.add(given);
    const turn = yieldTurn();
    if (turn !== undefined) await turn;
  }
  return unknown.notes(near, 'argument');
}

function contributionTool(context: Localization, kind: Kind): Tool {
  const { language, text } = context;
  const { kinds, mcp } = language;
  const { title, meaning } = kinds[kind];
  return {
    name: CONTRIBUTION_TOOLS[kind],
    title: text(title),
    description: `${text(meaning)} ${text(mcp.saying)}`,
    inputSchema: contributionInput(context, kind),
    annotations: CONTRIBUTION_ANNOTATIONS,
  };
}

function readTools(context: Localization): Tool[] {
  return READ_TOOLS.map(([name, names, others, required]) => {
    const properties = { ...parameters(context, names), ...toolArguments(context, others) };
    return readTool(context, name, properties, required);
  });
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
  const { filters: _, ...taken } = args;
  const parameters = await parametersOf(taken, 'presence', PRESENCE_PARAMETERS);
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
