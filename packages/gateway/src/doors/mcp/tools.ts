/** The tools: their names, what is said of them, and what each of them does. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { KINDS, localize, type Kind, type Language, type Locale } from '@open-presence/protocol';

import { getEntry, read, waitForNews, whoIsHere } from './listing-tools.ts';
import { firstContact, keep } from './contribution-tools.ts';
import {
  ENTRIES,
  FIRST_CONTACT,
  KEPT,
  LISTED,
  LISTING_PARAMETERS,
  NEWS_PARAMETERS,
  output,
  own,
  readingInput,
  RESULTS,
  sayingInput,
  SEARCH_PARAMETERS,
} from './schemas.ts';
import { search } from './searching.ts';
import type { ToolContext } from './tool-context.ts';

type Act = (context: ToolContext, given: Record<string, unknown>) => Promise<CallToolResult>;

const SAYING: Readonly<Record<Kind, string>> = {
  resonance: 'first_contact',
  garden: 'leave_trace',
  seeds: 'plant_seed',
  shepit: 'whisper',
};

export const TOOLS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [SAYING.resonance, firstContact],
  [SAYING.garden, keep('garden')],
  [SAYING.seeds, keep('seeds')],
  [SAYING.shepit, keep('shepit')],
  ['read', read],
  ['search', search],
  ['get_entry', getEntry],
  ['who_is_here', whoIsHere],
  ['wait_for_news', waitForNews],
]);

const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;
/** Adds to what is there, once more each time that it is called without a key. */
const SAYS = { ...READS, readOnlyHint: false, idempotentHint: false } as const;

const made = new WeakMap<Language, Map<Locale | undefined, readonly Tool[]>>();

/** The tools as a client is told of them. */
export function toolsIn(language: Language, locale: Locale | undefined): readonly Tool[] {
  const known = made.get(language) ?? new Map<Locale | undefined, readonly Tool[]>();
  made.set(language, known);
  const tools = known.get(locale) ?? [
    ...KINDS.map((kind) => sayingTool(language, kind, locale)),
    ...readingTools(language, locale),
  ];
  known.set(locale, tools);
  return tools;
}

function sayingTool(language: Language, kind: Kind, locale: Locale | undefined): Tool {
  const { title, meaning } = language.kinds[kind];
  const words = { companions: ENTRIES['entries'] ?? {} };
  return {
    name: SAYING[kind],
    title: localize(title, locale),
    description: `${localize(title, locale)}. ${localize(meaning, locale)} ${localize(language.mcp.saying, locale)}`,
    inputSchema: sayingInput(language, kind, locale),
    outputSchema: kind === 'resonance' ? output(FIRST_CONTACT, words) : output(KEPT, {}),
    annotations: { title: localize(title, locale), ...SAYS },
  };
}

function readingTools(language: Language, locale: Locale | undefined): Tool[] {
  const { tools } = language.mcp;
  const list = readingInput(language, LISTING_PARAMETERS, locale);
  const news = readingInput(language, NEWS_PARAMETERS, locale);
  const sought = readingInput(language, SEARCH_PARAMETERS, locale);
  const one = readingInput(language, [], locale);
  const here = readingInput(language, ['room', 'limit'], locale);
  const people = { type: 'array', items: { type: 'object' } };
  const piece = { bytes: { type: 'integer' }, next: LISTED['next'] ?? {} };
  const tool = (
    name: keyof typeof tools,
    input: Tool['inputSchema'],
    result: Tool['outputSchema'],
  ): Tool => ({
    name,
    title: localize(tools[name].title, locale),
    description: `${localize(tools[name].meaning, locale)} ${localize(language.labels.trust, locale)}`,
    inputSchema: input,
    ...(result === undefined ? {} : { outputSchema: result }),
    annotations: { title: localize(tools[name].title, locale), ...READS },
  });
  const more = { type: 'boolean' };
  return [
    tool('read', list, output(LISTED, ENTRIES, ['known'])),
    tool('search', { ...sought, required: ['q'] }, output(LISTED, RESULTS)),
    tool(
      'get_entry',
      {
        ...one,
        properties: { ...own(language, ['id', 'from'], locale), ...one.properties },
        required: ['id'],
      },
      output(piece, { entry: { type: 'object' }, text: { type: 'string' } }),
    ),
    tool(
      'who_is_here',
      here,
      output({ head: { type: 'integer' }, more }, { here: people, lately: people }),
    ),
    tool(
      'wait_for_news',
      { ...news, properties: { ...own(language, ['seconds'], locale), ...news.properties } },
      output(LISTED, ENTRIES, ['known']),
    ),
  ];
}
