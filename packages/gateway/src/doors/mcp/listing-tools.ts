/** Tools that read: the same listings, entries and presence that HTTP answers. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { GatewayError, localize, quoted, type Locale } from '@open-presence/protocol';

import { waitForEntries } from '../../feed/wait-for-entries.ts';
import { parseSeconds, parseSelection } from '../../intake/selection.ts';
import type { Selection } from '../../log/log.ts';
import { findEntry } from '../../operations/find-entry.ts';
import type { DoorContext } from '../context.ts';
import { nextPagePath } from '../../operations/next-page.ts';
import { visitorFor, presentVisitors, recentAuthors } from '../../operations/who-is-here.ts';
import { argumentsOf, NO_OTHERS, parametersOf, textIn } from './tool-call.ts';
import { pieceOf, toldPiece } from './entry-tool.ts';
import {
  fitting,
  howToGoOn,
  howToRead,
  resultOf,
  shortenedIn,
  type Fields,
  MAX_RESULT_SIZE,
} from './results.ts';
import { NEWS_PARAMETERS } from './schemas.ts';
import type { ToolContext } from './tool-context.ts';

const WAIT_SECONDS = 25;

interface Question {
  /** The tool to read on with. */
  readonly tool: 'read' | 'wait_for_news';
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  /** Further arguments to read on with. */
  readonly kept?: Fields;
}

/** Entries as one result holds them, and where to read on. */
export async function listed(
  { log, language }: DoorContext,
  locale: Locale | undefined,
  { tool, parameters, selection: wanted, kept = {} }: Question,
): Promise<{ summary: string; own: Fields; lines: string[]; entries: Fields[] }> {
  const head = log.head();
  const known = wanted.textQuery === undefined ? undefined : Math.min(log.searchWatermark(), head);
  const end = (known ?? head) + 1;
  const selection = { ...wanted, before: Math.min(wanted.before ?? Infinity, end) };
  const { told, last, more } = await fitting(log.readEntries(selection));
  const link = nextPagePath({ path: '', parameters: NO_OTHERS, selection, head }, { last, more });
  const next = link === null ? null : { ...argumentsOf(parameters, link), ...kept };
  const wording = { language, locale };
  const on = howToGoOn(wording, { tool, next, more });
  const searchable = known === undefined ? '' : `, known: ${known}`;
  const count = `entries: ${told.length}, order: ${wanted.order}, head: ${head}${searchable}.`;
  return {
    summary: `${count} ${on}${howToRead(wording, told)}`,
    own: { head, ...(known === undefined ? {} : { known }), next, shortened: shortenedIn(told) },
    lines: told.map(({ line }) => line),
    entries: told.map(({ value }) => value),
  };
}

export async function read(context: ToolContext, given: Fields): Promise<CallToolResult> {
  const { app } = context.call.context;
  const parameters = parametersOf(given, 'the entries');
  const selection = selected(app, parameters);
  arrived(app, given);
  const kept = among(given, ['as']);
  return await answered(context, { tool: 'read', parameters, selection, kept });
}

export async function waitForNews(context: ToolContext, given: Fields): Promise<CallToolResult> {
  const { app } = context.call.context;
  const { log, shutdown } = app;
  const parameters = parametersOf(given, 'the news', NEWS_PARAMETERS);
  parameters.set('order', 'oldest');
  const held = heldFor(textIn(given, 'seconds', 'the news'));
  const { after = log.head(), ...others } = selected(app, parameters);
  parameters.set('after', String(after));
  const selection = { ...others, after };
  arrived(app, given);
  const signals = [context.signal, shutdown.signal];
  await waitForEntries(log, selection, { timeoutMs: held * 1000, signals });
  // It waits anew for what comes then, whatever the order.
  parameters.delete('order');
  const kept = among(given, ['as', 'seconds']);
  return await answered(context, { tool: 'wait_for_news', parameters, selection, kept });
}

function heldFor(seconds: string | undefined): number {
  if (seconds === undefined) return WAIT_SECONDS;
  const held = parseSeconds(seconds);
  if (held !== undefined) return held;
  const detail = `"seconds" must be a number from 0, got ${quoted(seconds)}`;
  throw new GatewayError('invalid-parameter', `Cannot read the news: ${detail}`, {
    faults: [{ parameter: 'seconds', detail }],
  });
}

async function answered(
  { call, locale }: ToolContext,
  question: Question,
): Promise<CallToolResult> {
  const { app } = call.context;
  const { entries, ...rest } = await listed(app, locale, question);
  return resultOf(app.language, locale, { ...rest, words: { entries } });
}

/** Those of the arguments that are given, and say something. */
export function among(given: Fields, names: readonly string[]): Fields {
  const said = ([name, value]: [string, unknown]): boolean =>
    names.includes(name) && (typeof value === 'string' || typeof value === 'number');
  return Object.fromEntries(Object.entries(given).filter(said));
}

function selected({ grammar }: DoorContext, parameters: URLSearchParams): Selection {
  return parseSelection(parameters, { grammar, facets: [], kinds: true, subject: 'the entries' });
}

/** A reader who says who it is becomes present. */
export function arrived(app: DoorContext, given: Fields): void {
  const identity = given['as'];
  if (typeof identity !== 'string' || identity === '') return;
  app.presence.recordRequest(visitorFor(app, identity, given['room']));
}

export async function getEntry(context: ToolContext, given: Fields): Promise<CallToolResult> {
  const { app } = context.call.context;
  const id = textIn(given, 'id', 'an entry');
  if (id === undefined) throw nameless();
  arrived(app, given);
  const entry = await findEntry(app.log, id);
  const piece = await pieceOf(entry, textIn(given, 'from', 'an entry'));
  const { stamp, size } = entry;
  const kept = among(given, ['as']);
  const wording = { language: app.language, locale: context.locale };
  const next = piece.to === size ? null : { id: stamp.id, from: piece.to, ...kept };
  return resultOf(app.language, context.locale, {
    summary: toldPiece(wording, entry, piece, `get_entry ${JSON.stringify(next)}`),
    own: { bytes: size, next },
    lines: [piece.text],
    words: piece.value === undefined ? { text: piece.text } : { entry: piece.value },
  });
}

function nameless(): GatewayError {
  const detail = '"id" must be the id of an entry, but it is missing';
  return new GatewayError('invalid-parameter', `Cannot read an entry: ${detail}`, {
    faults: [{ parameter: 'id', detail }],
  });
}

export async function whoIsHere(context: ToolContext, given: Fields): Promise<CallToolResult> {
  const { app } = context.call.context;
  const { language } = app;
  const { room, limit } = given;
  const parameters = parametersOf({ room, limit }, 'presence');
  const { limit: most = Infinity } = selected(app, parameters);
  arrived(app, given);
  const rooms = parameters.getAll('room');
  const known = await app.recentAuthors.snapshot();
  // One more tells that there are more.
  const question = { rooms, limit: most + 1, signal: context.signal };
  const here = await fitted(presentVisitors(app, question, known), most);
  const spoke = await fitted(recentAuthors(app, question, known), most);
  const more = here.more || spoke.more;
  const rest = more ? ` ${localize(language.mcp.results.crowd, context.locale)}` : '';
  return resultOf(language, context.locale, {
    summary: `here: ${here.told.length}, lately: ${spoke.told.length}.${rest}`,
    own: { head: known.head, more },
    lines: [...here.told, ...spoke.told].map((one) => JSON.stringify(one)),
    words: { here: here.told, lately: spoke.told },
  });
}

/** At most so many, and as many as half of a result holds. */
async function fitted(
  all: AsyncIterable<object>,
  most: number,
): Promise<{ told: object[]; more: boolean }> {
  const told: object[] = [];
  let size = 0;
  for await (const one of all) {
    size += JSON.stringify(one).length;
    if (told.length === most || size > MAX_RESULT_SIZE / 2) return { told, more: true };
    told.push(one);
  }
  return { told, more: false };
}
