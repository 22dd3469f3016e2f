/** The tools: what runs each of them, and how clients see them. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import {
  GatewayError,
  type Kind,
  KINDS,
  type Language,
  type Locale,
  portableJson,
} from '@open-presence/protocol';

import type { Localization } from '../../../http/route-description.ts';
import { quote } from '../../../intake/parameter-faults.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import { NearNames } from '../../../near-names.ts';
import { roomDocuments } from '../../../operations/rooms.ts';
import { presencePage } from '../../../operations/who-is-here.ts';
import { contribute, firstContact } from './contribution-tools.ts';
import { getEntry } from './entry-tool.ts';
import { catchUp, read, search, waitForNews } from './listing-tools.ts';
import { callToolResult, MAX_RESULT_SIZE } from './results.ts';
import { contributionInput, inputSchema, parameters, toolArguments } from './schemas.ts';
import {
  CONTRIBUTION_TOOLS,
  LISTING_PARAMETERS,
  markPresent,
  meantBy,
  namedParameters,
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
  wait_for_news: LISTING_PARAMETERS,
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

/** How many arguments an error names. */
const MAX_FAULTS = 16;

/**
 * The arguments but for null and optional ones that are empty, as some clients send what they leave out. Throws
 * for an argument that the tool does not take: nothing is stored then, and nothing read.
 */
export function givenArguments(context: ToolContext, name: string, args: JsonObject): JsonObject {
  const { properties = {}, required = [] } =
    listTools(context).find((tool) => tool.name === name)?.inputSchema ?? {};
  const kind = KINDS.find((one) => CONTRIBUTION_TOOLS[one] === name);
  const named = Object.keys(properties);
  const taken = [...named, ...(kind ? membersOf(context, kind) : [...(TAKEN[name] ?? []), READER])];
  const given = Object.entries(args).filter(
    ([argument, value]) => value !== null && (value !== '' || required.includes(argument)),
  );
  const unknown = given.map(([argument]) => argument).filter((one) => !taken.includes(one));
  if (unknown.length === 0) return Object.fromEntries(given);
  const near = new NearNames(taken);
  const faults = unknown.slice(0, MAX_FAULTS).map((argument) => {
    const detail = `there is no argument ${quote(argument)} here${meantBy(near, argument)}`;
    return { ...(kind ? { pointer: `/${argument}` } : { parameter: argument }), detail };
  });
  const details = faults.map(({ detail }) => detail).join('; ');
  const further = kind ? ' Members of your own go into "furtherMembers".' : '';
  const sentence = `Cannot call ${name}: ${details}. It takes ${named.join(', ')}.${further}`;
  throw new GatewayError(kind ? 'invalid-entry' : 'invalid-parameter', sentence, { faults });
}

/** Members that mean something in an entry of this kind: its schema leaves out some of them. */
function membersOf({ language }: Localization, kind: Kind): string[] {
  return [...language.kinds[kind].fields, ...language.common].map(({ name }) => name);
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
  const parameters = namedParameters(args, 'presence', PRESENCE_PARAMETERS);
  const { limit } = await selectionOf(app, parameters);
  markPresent(app, args);
  const rooms = parameters.getAll('room');
  const query = { rooms, limit, maxSize: MAX_RESULT_SIZE / 2, signal };
  const { head, here, lately, others } = await presencePage(app, query);
  return callToolResult(context, {
    summary: others > 0 ? text(language.mcp.results.crowd) : '',
    own: { here: here.length, lately: lately.length, others, head, log: app.log.id },
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
